import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import { AwsContainers, type AwsContainersOptions } from "../../../functions/aws/aws-containers.ts";
import { awsApis, type AwsApis } from "../../../functions/aws/aws-containers/apis.ts";
import type { AwsContainersParams } from "../../../functions/aws/aws-containers/params.ts";
import type { Log } from "../../../functions/ports/clock.ts";
import type { ContainerSpec } from "../../../functions/ports/containers.ts";
import { startFakeAws, type AwsEvent, type FakeAws, type FakeAwsOptions } from "../../fakes/aws/index.ts";

export const STACK = "spotter-test";
const LOG_GROUP = "/spotter/test";

const logConfiguration: ContainerDefinition["logConfiguration"] = {
  logDriver: "awslogs",
  options: { "awslogs-group": LOG_GROUP, "awslogs-stream-prefix": "spotter", "awslogs-region": "us-east-1" },
};

/** A stack as the infra program builds it: a pool of one GPU class, its spot twin, and Fargate. */
export const PARAMS: AwsContainersParams = {
  stack: STACK,
  cluster: STACK,
  subnets: ["subnet-1"],
  securityGroups: ["sg-1"],
  assignPublicIp: true,
  containerName: "engine",
  logGroup: LOG_GROUP,
  logStreamPrefix: "spotter",
  serve: {
    cpu: { taskDefinition: "serve-cpu", capacityProvider: "FARGATE", spotCapacityProvider: "FARGATE_SPOT" },
    L4: {
      taskDefinition: "serve-gpu",
      capacityProvider: "gpu",
      spotCapacityProvider: "gpu-spot",
      autoScalingGroups: ["gpu"],
      network: "host",
    },
  },
  work: {
    cpu: { jobDefinition: "work-cpu", jobQueue: "work-cpu" },
    L4: { jobDefinition: "work-gpu", jobQueue: "work-gpu", spotJobQueue: "work-gpu-spot" },
  },
};

const ROLE = "arn:aws:iam::123456789012:role/execution";

export const WORLD: FakeAwsOptions = {
  pools: [
    { name: "gpu", instanceType: "g6.xlarge", maxSize: 3 },
    { name: "gpu-spot", instanceType: "g6.xlarge", maxSize: 3, spot: true },
  ],
  clusters: [{ name: STACK, capacityProviders: ["gpu", "gpu-spot", "FARGATE", "FARGATE_SPOT"] }],
  queues: [
    { name: "work-cpu" },
    { name: "work-gpu", pools: ["gpu"], timeLimits: [{ reason: "CAPACITY:", maxTimeSeconds: 1_800 }] },
    { name: "work-gpu-spot", pools: ["gpu-spot"] },
  ],
  taskDefinitions: [
    {
      family: "serve-cpu",
      requiresCompatibilities: ["FARGATE"],
      networkMode: "awsvpc",
      executionRoleArn: ROLE,
      cpu: "1024",
      memory: "2048",
      containerDefinitions: [{ name: "engine", image: "node:24", essential: true, logConfiguration }],
    },
    {
      family: "serve-gpu",
      requiresCompatibilities: ["EC2"],
      networkMode: "host",
      containerDefinitions: [
        { name: "engine", image: "vllm", essential: true, cpu: 1024, memory: 4096, logConfiguration },
      ],
    },
  ],
  jobDefinitions: ["cpu", "gpu"].map((name) => ({
    jobDefinitionName: `work-${name}`,
    type: "container",
    containerProperties: {
      image: "trainer",
      resourceRequirements: [
        { type: "VCPU", value: "1" },
        { type: "MEMORY", value: "2048" },
      ],
      ...(name === "cpu" && { executionRoleArn: ROLE }),
      logConfiguration: { logDriver: "awslogs", options: { "awslogs-group": LOG_GROUP } },
    },
    ...(name === "cpu" && { platformCapabilities: ["FARGATE"] }),
  })),
};

export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface Gym {
  aws: FakeAws;
  apis: AwsApis;
  containers: AwsContainers;
  /** Told of replicas whose instance may soon be taken back. */
  leaving: (listener: (jobIds: string[]) => Promise<void>) => void;
  /** Another process over the same stack, which knows nothing. */
  another: () => AwsContainers;
  /** Asks time to pass until this promise is settled. */
  passUntil: <T>(promise: Promise<T>) => Promise<T>;
}

/** The adapter over a fake AWS in virtual time, fed with its events. */
export async function gym(
  onEnd: (end: () => Promise<void>) => void,
  world: Partial<FakeAwsOptions> = {},
  options: Partial<AwsContainersOptions> = {},
): Promise<Gym> {
  const heard: ((event: AwsEvent) => Promise<void>)[] = [];
  const aws = await startFakeAws({
    ...WORLD,
    onEvent: async (event) => {
      await Promise.all(heard.map((hear) => hear(event)));
    },
    ...world,
  });
  const apis = awsApis({ ...aws.clientConfig });
  const open = () =>
    new AwsContainers({ params: PARAMS, clock: aws.clock, log: silent, apis, freshMs: 0, ...options });
  const containers = open();
  const listeners: ((jobIds: string[]) => Promise<void>)[] = [];
  heard.push(async (event) => {
    const jobIds = await containers.heard(event);
    for (const listener of listeners) await listener(jobIds);
  });
  onEnd(() => aws.close());
  return {
    aws,
    apis,
    containers,
    leaving: (listener) => listeners.push(listener),
    another: open,
    async passUntil(promise) {
      let isSettled = false;
      const settled = promise.finally(() => (isSettled = true));
      settled.catch(() => undefined);
      while (!isSettled) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (!isSettled) await aws.clock.advance(200);
      }
      return await settled;
    },
  };
}

export function spec(jobId: string, more: Partial<ContainerSpec> = {}): ContainerSpec {
  const kind = jobId.startsWith("serve") ? "serve" : jobId.startsWith("eval") ? "eval" : "train";
  return {
    jobId,
    kind,
    environment: {
      SPOTTER_URL: "http://127.0.0.1:1",
      SPOTTER_JOB_ID: jobId,
      SPOTTER_JOB_TOKEN: `spotter-job.${jobId}.secret`,
    },
    ...more,
  };
}

export const GPU = { gpu: "L4", count: 1, spot: false } as const;
export const SPOT = { gpu: "L4", count: 1, spot: true } as const;
