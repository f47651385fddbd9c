import type * as ecs from "@aws-sdk/client-ecs";
import { Fault } from "../fault.ts";
import { arn, nameOf } from "../ids.ts";
import { page } from "../pages.ts";
import type { Handlers } from "../server.ts";
import type { World } from "../world.ts";
import { instanceHandlers } from "./container-instances.ts";
import { clusterOf, runTask, type EcsState } from "./run-task.ts";
import type { TaskRecord } from "./tasks.ts";

export function ecsHandlers(state: EcsState, world: World): Handlers {
  return {
    ...clusterHandlers(state),
    ...definitionHandlers(state),
    ...taskHandlers(state, world),
    ...instanceHandlers(state, world),
  };
}

function taskHandlers(state: EcsState, world: World): Handlers {
  return {
    RunTask: (input: ecs.RunTaskRequest): ecs.RunTaskResponse => runTask(state, world, input),
    StopTask({ cluster, task, reason }: ecs.StopTaskRequest): ecs.StopTaskResponse {
      const record = find(state, clusterOf(state, cluster).clusterArn, task ?? "");
      if (record === undefined) {
        throw new Fault("InvalidParameterException", "The referenced task was not found.");
      }
      state.tasks.stop(record, "UserInitiated", reason ?? "Task stopped by user");
      return { task: shown(record, false) };
    },
    DescribeTasks({
      cluster,
      tasks = [],
      include = [],
    }: ecs.DescribeTasksRequest): ecs.DescribeTasksResponse {
      if (tasks.length > 100)
        throw new Fault("InvalidParameterException", "Tasks cannot have more than 100 elements.");
      if (tasks.length === 0) throw new Fault("InvalidParameterException", "Tasks cannot be empty.");
      const { clusterArn } = clusterOf(state, cluster);
      const found = tasks.map((each) => [each, find(state, clusterArn, each)] as const);
      return {
        tasks: found.flatMap(([, record]) =>
          record === undefined ? [] : [shown(record, include.includes("TAGS"))],
        ),
        failures: found.flatMap(([each, record]) =>
          record === undefined
            ? [
                {
                  arn: each.startsWith("arn:") ? each : arn("ecs", `task/${nameOf(clusterArn)}/${each}`),
                  reason: "MISSING",
                },
              ]
            : [],
        ),
      };
    },
    ListTasks: (input: ecs.ListTasksRequest): ecs.ListTasksResponse => listTasks(state, input),
    TagResource({ resourceArn = "", tags = [] }: ecs.TagResourceRequest): ecs.TagResourceResponse {
      const record = state.tasks.records.get(resourceArn);
      if (record === undefined) throw new Fault("InvalidParameterException", "The resource was not found.");
      const kept = record.tags.filter(({ key }) => !tags.some((each) => each.key === key));
      record.tags = record.task.tags = [...kept, ...tags];
      return {};
    },
  };
}

function listTasks(state: EcsState, input: ecs.ListTasksRequest): ecs.ListTasksResponse {
  const { cluster, startedBy, family, serviceName, containerInstance, launchType, maxResults, nextToken } =
    input;
  if (
    startedBy !== undefined &&
    [family, serviceName, containerInstance].some((each) => each !== undefined)
  ) {
    throw new Fault(
      "InvalidParameterException",
      "When startedBy is used as a filter, it must be the only filter.",
    );
  }
  const { desiredStatus = "RUNNING" } = input;
  if (!["RUNNING", "PENDING", "STOPPED"].includes(desiredStatus)) {
    throw new Fault("InvalidParameterException", "desiredStatus must be one of RUNNING, PENDING, STOPPED.");
  }
  const { clusterArn } = clusterOf(state, cluster);
  const taskArns = [...state.tasks.records.values()]
    .filter(
      ({ task, definition }) =>
        task.clusterArn === clusterArn &&
        task.desiredStatus === desiredStatus &&
        (startedBy === undefined || task.startedBy === startedBy) &&
        (family === undefined || definition.family === family) &&
        (launchType === undefined || task.launchType === launchType) &&
        (containerInstance === undefined ||
          nameOf(task.containerInstanceArn ?? "") === nameOf(containerInstance)) &&
        serviceName === undefined,
    )
    .map(({ task }) => task.taskArn);
  const { items, next } = page(taskArns, {
    maxResults,
    nextToken,
    most: 100,
    code: "InvalidParameterException",
  });
  return { taskArns: items, nextToken: next };
}

const find = (state: EcsState, clusterArn: string, reference: string): TaskRecord | undefined =>
  state.tasks.records.get(
    reference.startsWith("arn:") ? reference : arn("ecs", `task/${nameOf(clusterArn)}/${reference}`),
  );

/** Tags are told only to those who ask. */
function shown({ task }: TaskRecord, withTags: boolean): ecs.Task {
  return structuredClone(withTags ? task : { ...task, tags: [] });
}

function clusterHandlers(state: EcsState): Handlers {
  return {
    CreateCluster({
      clusterName = "default",
      capacityProviders = [],
      defaultCapacityProviderStrategy = [],
    }: ecs.CreateClusterRequest): ecs.CreateClusterResponse {
      const cluster = {
        clusterName,
        clusterArn: arn("ecs", `cluster/${clusterName}`),
        status: "ACTIVE",
        capacityProviders,
        defaultCapacityProviderStrategy,
      };
      state.clusters.set(clusterName, state.clusters.get(clusterName) ?? cluster);
      return { cluster };
    },
    DescribeClusters({ clusters = ["default"] }: ecs.DescribeClustersRequest): ecs.DescribeClustersResponse {
      const found = clusters.map((each) => [each, state.clusters.get(nameOf(each))] as const);
      return {
        clusters: found.flatMap(([, cluster]) => (cluster === undefined ? [] : [cluster])),
        failures: found.flatMap(([each, cluster]) =>
          cluster === undefined ? [{ arn: each, reason: "MISSING" }] : [],
        ),
      };
    },
    ListClusters: (): ecs.ListClustersResponse => ({
      clusterArns: [...state.clusters.values()].map(({ clusterArn }) => clusterArn),
    }),
  };
}

function definitionHandlers({ definitions }: EcsState): Handlers {
  return {
    RegisterTaskDefinition: (input: ecs.RegisterTaskDefinitionRequest) => definitions.register(input),
    DescribeTaskDefinition: ({
      taskDefinition,
    }: ecs.DescribeTaskDefinitionRequest): ecs.DescribeTaskDefinitionResponse => ({
      taskDefinition: definitions.find(taskDefinition ?? ""),
    }),
    DeregisterTaskDefinition: ({
      taskDefinition,
    }: ecs.DeregisterTaskDefinitionRequest): ecs.DeregisterTaskDefinitionResponse => ({
      taskDefinition: definitions.deregister(taskDefinition ?? ""),
    }),
    ListTaskDefinitions({
      familyPrefix,
      status = "ACTIVE",
      maxResults,
      nextToken,
    }: ecs.ListTaskDefinitionsRequest): ecs.ListTaskDefinitionsResponse {
      const all = definitions.arns(familyPrefix, status);
      const { items, next } = page(all, {
        maxResults,
        nextToken,
        most: 100,
        code: "InvalidParameterException",
      });
      return { taskDefinitionArns: items, nextToken: next };
    },
  };
}
