import type { ContainerProperties, NodeProperties } from "@aws-sdk/client-batch";
import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import { beforeAll, describe, expect, it } from "vitest";
import { CPU_SHAPE as PRICED } from "../../functions/cost/prices.ts";
import { nodeCommand, pythonCommand } from "../../infra/bootstrap/container-program.ts";
import { NETWORK_CIDR } from "../../infra/components/network.ts";
import { IMAGES, isByDigest } from "../../infra/config/images.ts";
import { recordComponents, type Components } from "./record-components.ts";

const PROGRAM = {
  url: "https://data.s3.eu-central-1.amazonaws.com/programs/x.tar.gz",
  sha256: "ab",
  entry: "e",
};
const AGENT = {
  url: "https://data.s3.eu-central-1.amazonaws.com/programs/a.tar.gz",
  sha256: "cd",
  entry: "spotter_agent",
};
const SLIME = `slimerl/slime@sha256:${"0".repeat(64)}`;
const VLLM = `vllm/vllm-openai@sha256:${"1".repeat(64)}`;
const TASK = "aws:ecs/taskDefinition:TaskDefinition";
const JOB = "aws:batch/jobDefinition:JobDefinition";

let recorded: Components;
beforeAll(async () => {
  recorded = await recordComponents(
    {
      gpuClasses: '["L4:1","H100:8"]',
      engineImages: JSON.stringify([`slime=${SLIME}`, `vllm=${VLLM}`]),
      multiNode: "H100:8=4",
      logRetentionDays: "7",
    },
    async (config) => {
      const { TaskDefinitions } = await import("../../infra/components/task-definitions.ts");
      const { logGroup, executionRoleArn } = new TaskDefinitions(
        "containers",
        { program: PROGRAM, agent: AGENT },
        config,
      );
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

/** Of each node of one training. */
const nodes = () => {
  const { inputs } = recorded.only(JOB, "slime-nodes");
  const { nodeRangeProperties = [], ...properties } = JSON.parse(
    String(inputs["nodeProperties"]),
  ) as NodeProperties;
  return { inputs, properties, containers: nodeRangeProperties.map(({ container = {} }) => container) };
};
const tasks = (names: string[]) => names.map((name) => task(name).definition);
const jobs = (names: string[]) => names.map((name) => job(name).properties);

describe("every container", () => {
  const all = () => [
    ...tasks(["serve-cpu", "serve-l4-1", "serve-h100-8", "vllm-l4-1", "vllm-h100-8"]),
    ...jobs(["containers-work-cpu", "containers-work-l4-1", "slime-l4-1", "slime-h100-8"]),
    ...nodes().containers,
  ];

  it("is an upstream image by digest that fetches its program and checks it", () => {
    expect(all()).toHaveLength(10);
    for (const { image = "", environment } of all()) {
      expect(isByDigest(image), image).toBe(true);
      const program = [SLIME, VLLM].includes(image) ? AGENT : PROGRAM;
      expect(Object.fromEntries((environment ?? []).map(({ name = "", value }) => [name, value]))).toEqual({
        SPOTTER_PROGRAM_URL: program.url,
        SPOTTER_PROGRAM_SHA256: program.sha256,
        SPOTTER_PROGRAM_ENTRY: program.entry,
        SPOTTER_NETWORK: "10.42.",
      });
    }
    expect(NETWORK_CIDR.startsWith("10.42.")).toBe(true);
  });

  it("of the embedded engine begins with Node, as a user without rights", () => {
    const embedded = [
      ...tasks(["serve-cpu", "serve-l4-1", "serve-h100-8"]),
      ...jobs(["containers-work-cpu", "containers-work-l4-1"]),
    ];
    for (const each of embedded)
      expect(each).toMatchObject({ image: IMAGES.node, user: "1000:1000", command: nodeCommand() });
  });

  it("of vLLM begins with Python in place of the image's own entry, as a user without rights", () => {
    for (const each of tasks(["vllm-l4-1", "vllm-h100-8"])) {
      expect(each).toMatchObject({
        image: VLLM,
        user: "1000:1000",
        entryPoint: pythonCommand({ isRoot: false }),
      });
      expect(each.command).toBeUndefined();
    }
  });

  it("of slime is root of its own image, in the group that hosts refuse their role, which it cannot leave", () => {
    for (const each of [...jobs(["slime-l4-1", "slime-h100-8"]), ...nodes().containers]) {
      expect(each).toMatchObject({ image: SLIME, user: "0:1000", command: pythonCommand({ isRoot: true }) });
      expect(each.command?.slice(0, 4)).toEqual([
        "setpriv",
        expect.stringMatching(/^--bounding-set=.*-setgid/),
        expect.stringMatching(/^--inh-caps=.*-setgid/),
        "--no-new-privs",
      ]);
    }
  });

  it("has no role, and an execution role that writes its log and nothing else", () => {
    for (const { inputs } of recorded.all(TASK)) {
      expect(inputs["taskRoleArn"]).toBeUndefined();
      expect(inputs["executionRoleArn"]).toBe(recorded.outputs["executionRoleArn"]);
    }
    for (const each of all().slice(5)) {
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

  it.each(["serve", "vllm"])(
    "with GPUs takes a host for itself, in its network: only that has a way out (%s)",
    (kind) => {
      const { inputs, definition } = task(`${kind}-l4-1`);
      expect(inputs).toMatchObject({ requiresCompatibilities: ["EC2"], networkMode: "host" });
      // More than half of the 16 GiB, so that no second one fits beside it.
      expect(definition).toMatchObject({
        memoryReservation: 14_745,
        linuxParameters: { sharedMemorySize: 3_686 },
      });
      expect(task(`${kind}-h100-8`).definition.memoryReservation).toBe(1_887_436);
    },
  );
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

  it.each(["containers-work-h100-8", "slime-h100-8"])("with GPUs has all of a host: %s", (name) => {
    const { inputs, properties } = job(name);
    expect(inputs).toMatchObject({ type: "container", platformCapabilities: ["EC2"] });
    expect(resources(properties)).toEqual({ VCPU: "192", MEMORY: "1887436", GPU: "8" });
  });

  it("over several hosts is a job of nodes that talk over the fabric", () => {
    const { inputs, properties, containers } = nodes();
    expect(inputs).toMatchObject({
      name: "spotter-test-slime-nodes",
      type: "multinode",
      platformCapabilities: ["EC2"],
    });
    expect(properties).toEqual({ numNodes: 4, mainNode: 0 });
    const [container] = containers;
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
