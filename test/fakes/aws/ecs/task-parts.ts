import type {
  ContainerDefinition,
  ResourceRequirement,
  TaskDefinition,
  TaskOverride,
} from "@aws-sdk/client-ecs";
import type { ContainerRun, FakeContainer } from "../containers.ts";
import { arn, nameOf } from "../ids.ts";
import type { InstanceResources } from "../instance-types.ts";
import { secretOf, type World } from "../world.ts";
import type { TaskRecord } from "./tasks.ts";

/** What a task reserves on its instance: its own numbers, or the sum of its containers'. */
export function needsOf(definition: TaskDefinition, overrides: TaskOverride): InstanceResources {
  const parts = (definition.containerDefinitions ?? []).map((each) => {
    const override = overrideOf(overrides, each.name);
    return {
      cpu: override?.cpu ?? each.cpu ?? 0,
      memoryMiB:
        override?.memory ?? each.memory ?? override?.memoryReservation ?? each.memoryReservation ?? 0,
      gpus: gpusOf(override?.resourceRequirements ?? each.resourceRequirements),
    };
  });
  const sum = (of: (part: InstanceResources) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const cpu = overrides.cpu ?? definition.cpu;
  const memory = overrides.memory ?? definition.memory;
  return {
    cpu: cpu === undefined ? sum((part) => part.cpu) : Number(cpu),
    memoryMiB: memory === undefined ? sum((part) => part.memoryMiB) : Number(memory),
    gpus: sum(({ gpus }) => gpus),
  };
}

const overrideOf = (overrides: TaskOverride, name: string | undefined) =>
  overrides.containerOverrides?.find((each) => each.name === name);

const gpusOf = (requirements: ResourceRequirement[] | undefined): number =>
  Number(requirements?.find(({ type }) => type === "GPU")?.value ?? 0);

export function containerArn(
  kind: "container-instance" | "container",
  { task }: TaskRecord,
  id: string,
): string {
  return arn("ecs", `${kind}/${nameOf(task.clusterArn ?? "")}/${id}`);
}

/** What a container of a task starts with. Fails when a secret cannot be read. */
export function runOf(definition: ContainerDefinition, record: TaskRecord, world: World): ContainerRun {
  const override = overrideOf(record.overrides, definition.name);
  const environment: Record<string, string> = {};
  for (const { name = "", value = "" } of [
    ...(definition.environment ?? []),
    ...(override?.environment ?? []),
  ]) {
    environment[name] = value;
  }
  for (const { name = "", valueFrom = "" } of definition.secrets ?? []) {
    environment[name] = secretOf(world, valueFrom);
  }
  const stream = logStreamOf(definition, record);
  return {
    kind: "task",
    arn: record.task.taskArn,
    name: definition.name ?? "",
    environment,
    command: override?.command ?? definition.command ?? [],
    cpu: override?.cpu ?? definition.cpu,
    memoryMiB: override?.memory ?? definition.memory ?? definition.memoryReservation,
    gpus: gpusOf(override?.resourceRequirements ?? definition.resourceRequirements),
    log: (line) => {
      if (stream !== undefined) world.logs.add(stream.group, stream.name, line, world.clock.now());
    },
  };
}

function logStreamOf(
  { logConfiguration, name = "" }: ContainerDefinition,
  { task }: TaskRecord,
): { group: string; name: string } | undefined {
  const options = logConfiguration?.options ?? {};
  const group = options["awslogs-group"];
  if (logConfiguration?.logDriver !== "awslogs" || group === undefined) return undefined;
  const prefix = options["awslogs-stream-prefix"];
  const id = nameOf(task.taskArn);
  return { group, name: prefix === undefined ? id : `${prefix}/${name}/${id}` };
}

/** Everything runs on this machine: addresses are the loopback's, ports the ones the process really has. */
export function networkOf(
  record: TaskRecord,
  definition: ContainerDefinition,
  container: FakeContainer,
): void {
  const shown = record.task.containers?.find(({ name }) => name === definition.name);
  if (shown === undefined) return;
  shown.runtimeId = `${nameOf(record.task.taskArn)}-${definition.name ?? ""}`;
  if (record.definition.networkMode === "awsvpc") {
    shown.networkInterfaces = [{ attachmentId: "attachment", privateIpv4Address: "127.0.0.1" }];
    record.task.attachments = [
      {
        id: "attachment",
        type: "ElasticNetworkInterface",
        status: "ATTACHED",
        details: [
          { name: "networkInterfaceId", value: "eni-0fake" },
          { name: "privateIPv4Address", value: "127.0.0.1" },
        ],
      },
    ];
    return;
  }
  shown.networkBindings = (definition.portMappings ?? []).map(
    ({ containerPort = 0, hostPort, protocol }) => ({
      bindIP: "0.0.0.0",
      containerPort,
      hostPort:
        container.ports[containerPort] ??
        (hostPort === 0 || hostPort === undefined ? containerPort : hostPort),
      protocol: protocol ?? "tcp",
    }),
  );
}
