import type { ContainerProperties, NodeProperties } from "@aws-sdk/client-batch";
import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import { beforeAll, describe, expect, it } from "vitest";
import { CPU_SHAPE as PRICED } from "../../functions/cost/prices.ts";
import { nodeCommand } from "../../infra/bootstrap/container-program.ts";
import { NETWORK_CIDR } from "../../infra/components/network.ts";
import { isByDigest } from "../../infra/config/images.ts";
import { recordComponents, type Components } from "./record-components.ts";

const PROGRAM = {
  url: "https://data.s3.eu-central-1.amazonaws.com/programs/x.tar.gz",
  sha256: "ab",
  entry: "e",
};
const TASK = "aws:ecs/taskDefinition:TaskDefinition";
const JOB = "aws:batch/jobDefinition:JobDefinition";

let recorded: Components;
beforeAll(async () => {
  recorded = await recordComponents(
    { gpuClasses: '["L4:1","H100:8"]', multiNode: "H100:8=4", logRetentionDays: "7" },
    async (config) => {
      const { TaskDefinitions } = await import("../../infra/components/task-definitions.ts");
      const { logGroup, executionRoleArn } = new TaskDefinitions("containers", { program: PROGRAM }, config);
      return { logGroup, executionRoleArn };
    },
  );
}, 30_000);

const task = (name: string) => {
  const { inputs } = recorded.only(TASK, name);
  const [definition, ...others] = JSON.parse(String(inputs["containerDefinitions"])) as ContainerDefinition[];
  expect(others).toEqual([]);
  return { inputs, definition: definition ?? {} };
};
const job = (name: string) => {
  const { inputs } = recorded.only(JOB, name);
  const properties = JSON.parse(String(inputs["containerProperties"])) as ContainerProperties;
  return { inputs, properties };
};
const resources = ({ resourceRequirements = [] }: ContainerProperties) =>
  Object.fromEntries(resourceRequirements.map(({ type = "", value }) => [type, value]));

describe("every container", () => {
  const all = () => {
    const { nodeRangeProperties = [] } = JSON.parse(
      String(recorded.only(JOB, "containers-nodes").inputs["nodeProperties"]),
    ) as NodeProperties;
    return [
      ...["serve-cpu", "serve-l4-1", "serve-h100-8"].map((name) => task(name).definition),
      ...["containers-work-cpu", "containers-work-l4-1"].map((name) => job(name).properties),
      ...nodeRangeProperties.map(({ container = {} }) => container),
    ];
  };

  it("is an upstream image by digest that fetches the program and checks it, as a user without rights", () => {
    expect(all()).toHaveLength(6);
    for (const { image = "", command, environment, user } of all()) {
      expect(isByDigest(image), image).toBe(true);
      expect(command).toEqual(nodeCommand());
      expect(user).toBe("1000:1000");
      expect(Object.fromEntries((environment ?? []).map(({ name = "", value }) => [name, value]))).toEqual({
        SPOTTER_PROGRAM_URL: PROGRAM.url,
        SPOTTER_PROGRAM_SHA256: PROGRAM.sha256,
        SPOTTER_PROGRAM_ENTRY: PROGRAM.entry,
        SPOTTER_NETWORK: "10.42.",
      });
    }
    expect(NETWORK_CIDR.startsWith("10.42.")).toBe(true);
  });

  it("has no role, and an execution role that writes its log and nothing else", () => {
    for (const { inputs } of recorded.all(TASK)) {
      expect(inputs["taskRoleArn"]).toBeUndefined();
      expect(inputs["executionRoleArn"]).toBe(recorded.outputs["executionRoleArn"]);
    }
    for (const each of all().slice(3)) {
      expect(each).toMatchObject({ executionRoleArn: recorded.outputs["executionRoleArn"] });
      expect(each).not.toHaveProperty("jobRoleArn");
    }
    const policy = JSON.parse(
      String(recorded.only("aws:iam/rolePolicy:RolePolicy").inputs["policy"]),
    ) as unknown;
    expect(policy).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
          Resource: expect.stringMatching(/^arn:aws:logs:.*:log-group:[^*]+:\*$/) as string,
        },
      ],
    });
  });

  it("writes to one log group, which is kept as long as the stack says", () => {
    const group = recorded.only("aws:cloudwatch/logGroup:LogGroup");
    expect(group.inputs["retentionInDays"]).toBe(7);
    for (const { logConfiguration } of all())
      expect(logConfiguration).toMatchObject({
        logDriver: "awslogs",
        options: { "awslogs-group": recorded.outputs["logGroup"], "awslogs-stream-prefix": "spotter" },
      });
  });

  it("carries the stack's tags", () => {
    for (const { inputs } of [...recorded.all(TASK), ...recorded.all(JOB)])
      expect(inputs["tags"]).toEqual(recorded.config.tags);
  });
});

describe("a replica", () => {
  it("without a GPU is on Fargate, as large as it is priced", () => {
    const { inputs, definition } = task("serve-cpu");
    expect(inputs).toMatchObject({
      family: "spotter-test-serve-cpu",
      requiresCompatibilities: ["FARGATE"],
      networkMode: "awsvpc",
      cpu: String(PRICED.vCpus * 1024),
      memory: String(PRICED.memoryGiB * 1024),
      runtimePlatform: { operatingSystemFamily: "LINUX", cpuArchitecture: "X86_64" },
    });
    expect(definition).toMatchObject({ name: "spotter", essential: true, stopTimeout: 120 });
  });

  it("with GPUs takes a host for itself, in its network: only that has a way out", () => {
    const { inputs, definition } = task("serve-l4-1");
    expect(inputs).toMatchObject({ requiresCompatibilities: ["EC2"], networkMode: "host" });
    // More than half of the 16 GiB, so that no second one fits beside it.
    expect(definition).toMatchObject({
      memoryReservation: 14_745,
      linuxParameters: { sharedMemorySize: 3_686 },
    });
    expect(task("serve-h100-8").definition.memoryReservation).toBe(1_887_436);
  });
});

describe("a run", () => {
  it("is never tried again by Batch, and ends when its host would", () => {
    for (const { inputs } of recorded.all(JOB)) {
      expect(inputs["retryStrategy"]).toBeUndefined();
      expect(inputs).toMatchObject({ propagateTags: true, timeout: { attemptDurationSeconds: 192 * 3600 } });
    }
  });

  it("without a GPU is on Fargate, with a public address to get out by", () => {
    const { inputs, properties } = job("containers-work-cpu");
    expect(inputs).toMatchObject({ type: "container", platformCapabilities: ["FARGATE"] });
    expect(resources(properties)).toEqual({ VCPU: "4", MEMORY: "16384" });
    expect(properties).toMatchObject({ networkConfiguration: { assignPublicIp: "ENABLED" } });
  });

  it("with GPUs has all of a host", () => {
    const { inputs, properties } = job("containers-work-h100-8");
    expect(inputs).toMatchObject({ type: "container", platformCapabilities: ["EC2"] });
    expect(resources(properties)).toEqual({ VCPU: "192", MEMORY: "1887436", GPU: "8" });
  });

  it("over several hosts is a job of nodes that talk over the fabric", () => {
    const { inputs } = recorded.only(JOB, "containers-nodes");
    expect(inputs).toMatchObject({ type: "multinode", platformCapabilities: ["EC2"] });
    const nodes = JSON.parse(String(inputs["nodeProperties"])) as NodeProperties;
    expect(nodes).toMatchObject({ numNodes: 4, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:" }] });
    const container = nodes.nodeRangeProperties?.[0]?.container;
    expect(container).toMatchObject({
      instanceType: "p5.48xlarge",
      ulimits: expect.arrayContaining([{ name: "memlock", softLimit: -1, hardLimit: -1 }]) as unknown,
    });
    expect(container?.linuxParameters?.devices).toHaveLength(32);
    expect(container?.linuxParameters?.devices?.[31]).toEqual({
      hostPath: "/dev/infiniband/uverbs31",
      containerPath: "/dev/infiniband/uverbs31",
      permissions: ["READ", "WRITE", "MKNOD"],
    });
  });
});
