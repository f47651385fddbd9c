import type * as ecs from "@aws-sdk/client-ecs";
import { Fault } from "../fault.ts";
import { arn, nameOf } from "../ids.ts";
import { page } from "../pages.ts";
import { freeOf } from "../packing.ts";
import type { Instance } from "../pool.ts";
import type { Handlers } from "../server.ts";
import type { World } from "../world.ts";
import { clusterOf, type EcsState } from "./run-task.ts";

/** The instances that joined the cluster. */
export function instanceHandlers(state: EcsState, world: World): Handlers {
  const registered = (): Instance[] =>
    [...world.pools.values()].flatMap(({ instances }) => instances.filter((each) => each.registered));

  return {
    ListContainerInstances({
      cluster,
      maxResults,
      nextToken,
      status,
    }: ecs.ListContainerInstancesRequest): ecs.ListContainerInstancesResponse {
      const { clusterName } = clusterOf(state, cluster);
      const arns = registered()
        .filter((each) => status === undefined || statusOf(each) === status)
        .map(({ id }) => arn("ecs", `container-instance/${clusterName}/${id}`));
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
      const { clusterName } = clusterOf(state, cluster);
      const found = containerInstances.map(
        (each) => [each, registered().find(({ id }) => id === nameOf(each))] as const,
      );
      return {
        containerInstances: found.flatMap(([, each]) =>
          each === undefined ? [] : [shown(each, clusterName, state)],
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
      const { clusterName } = clusterOf(state, cluster);
      const changed = registered().filter(({ id }) => containerInstances.some((each) => nameOf(each) === id));
      for (const instance of changed) instance.draining = status === "DRAINING";
      return { containerInstances: changed.map((each) => shown(each, clusterName, state)), failures: [] };
    },
  };
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
