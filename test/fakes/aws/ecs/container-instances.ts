import type * as ecs from "@aws-sdk/client-ecs";
import { Fault } from "../fault.ts";
import { arn } from "../ids.ts";
import { page } from "../pages.ts";
import { freeOf } from "../packing.ts";
import type { Instance } from "../pool.ts";
import type { Handlers } from "../server.ts";
import type { World } from "../world.ts";
import { clusterOf, type EcsState } from "./run-task.ts";

/** The instances that joined the cluster. */
export function instanceHandlers(state: EcsState, world: World): Handlers {
  const registered = ({ capacityProviders = [] }: ecs.Cluster): Instance[] =>
    capacityProviders.flatMap(
      (name) => world.pools.get(name)?.instances.filter((each) => each.registered) ?? [],
    );

  return {
    ListContainerInstances({
      cluster,
      maxResults,
      nextToken,
      status,
      filter,
    }: ecs.ListContainerInstancesRequest): ecs.ListContainerInstancesResponse {
      const at = clusterOf(state, cluster);
      const arns = registered(at)
        .filter((each) => status === undefined || statusOf(each) === status)
        .filter((each) => matches(each, filter))
        .map(({ id }) => arn("ecs", `container-instance/${at.clusterName}/${id}`));
      const { items, next } = page(arns, {
        maxResults,
        nextToken,
        most: 100,
        code: "InvalidParameterException",
      });
      return { containerInstanceArns: items, nextToken: next };
    },
    DescribeContainerInstances({
      cluster,
      containerInstances = [],
    }: ecs.DescribeContainerInstancesRequest): ecs.DescribeContainerInstancesResponse {
      if (containerInstances.length > 100) {
        throw new Fault("InvalidParameterException", "At most 100 container instances.");
      }
      const at = clusterOf(state, cluster);
      const found = containerInstances.map(
        (each) => [each, registered(at).find(({ id }) => names(each, at.clusterName, id))] as const,
      );
      return {
        containerInstances: found.flatMap(([, each]) =>
          each === undefined ? [] : [shown(each, at.clusterName, state)],
        ),
        failures: found.flatMap(([each, instance]) =>
          instance === undefined ? [{ arn: each, reason: "MISSING" }] : [],
        ),
      };
    },
    UpdateContainerInstancesState({
      cluster,
      containerInstances = [],
      status,
    }: ecs.UpdateContainerInstancesStateRequest): ecs.UpdateContainerInstancesStateResponse {
      const at = clusterOf(state, cluster);
      const changed = registered(at).filter(({ id }) =>
        containerInstances.some((each) => names(each, at.clusterName, id)),
      );
      for (const instance of changed) instance.draining = status === "DRAINING";
      return { containerInstances: changed.map((each) => shown(each, at.clusterName, state)), failures: [] };
    },
  };
}

/** An arn of another cluster names nothing here. */
const names = (reference: string, clusterName: string, id: string): boolean =>
  reference === id || reference === arn("ecs", `container-instance/${clusterName}/${id}`);

/** The one query of the cluster query language that is asked here. */
function matches({ id }: Instance, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  const [, wanted] = /^ec2InstanceId == (i-[0-9a-f]+)$/.exec(filter) ?? [];
  if (wanted === undefined)
    throw new Fault("InvalidParameterException", `The fake does not know the filter ${filter}.`);
  return id === wanted;
}

const statusOf = ({ draining }: Instance): string => (draining ? "DRAINING" : "ACTIVE");

function shown(instance: Instance, clusterName: string, { tasks }: EcsState): ecs.ContainerInstance {
  const own = [...tasks.records.values()].filter((each) => each.instance === instance);
  const counted = (status: string): number => own.filter(({ task }) => task.lastStatus === status).length;
  const resources = ({ cpu, memoryMiB, gpus }: Instance["resources"]): ecs.Resource[] => [
    { name: "CPU", type: "INTEGER", integerValue: cpu },
    { name: "MEMORY", type: "INTEGER", integerValue: memoryMiB },
    {
      name: "GPU",
      type: "STRINGSET",
      stringSetValue: Array.from({ length: gpus }, (_, index) => `GPU-${index}`),
    },
  ];
  return {
    containerInstanceArn: arn("ecs", `container-instance/${clusterName}/${instance.id}`),
    ec2InstanceId: instance.id,
    capacityProviderName: instance.pool,
    status: statusOf(instance),
    agentConnected: true,
    runningTasksCount: counted("RUNNING"),
    pendingTasksCount: counted("PENDING"),
    registeredResources: resources(instance.resources),
    remainingResources: resources(freeOf(instance)),
    registeredAt: new Date(instance.launchedAtMs),
  };
}
