/**
 * A fake AWS: ECS, Batch and what stands around them, over HTTP on 127.0.0.1, for the SDK's own clients.
 *
 *   const aws = await startFakeAws({
 *     pools: [{ name: "gpu", instanceType: "g6.xlarge", maxSize: 2 }],    // Auto Scaling groups, min 0
 *     clusters: [{ name: "spotter-dev", capacityProviders: ["gpu", "FARGATE"] }],
 *     queues: [{ name: "spotter-dev-train", pools: ["gpu"] }],            // Batch; without pools: Fargate
 *     taskDefinitions: [{ family: "serve", containerDefinitions: [...] }],
 *     jobDefinitions: [{ jobDefinitionName: "train", type: "container", containerProperties: {...} }],
 *     startContainer: (definition, run) => ({ pid, exited, stop }),       // absent: recorded, waits for a signal
 *     onEvent: (event) => ...,                                            // EventBridge: everything
 *     functions: { reconciler: (event) => ... },                          // Lambda; targets of PutRule, too
 *     auto: true,                                                         // real time, short delays
 *   });
 *   const client = new ECSClient(aws.clientConfig);
 *   await aws.clock.advance(60_000);                  // or: await aws.clock.until(() => ...)
 *   aws.containers.of(taskArn)[0].end(137, "OutOfMemoryError: Container killed due to memory usage");
 *   aws.control.failNext("RunTask", { failures: [{ reason: "RESOURCE:GPU" }] });
 *   aws.calls.filter(({ operation }) => operation === "SubmitJob");
 *   aws.control.interruptSpot(taskArn);               // warning event, two minutes, end of the instance
 *   await aws.close();                                // kills what still runs
 *
 * Clients in this process refuse members that the SDK's models lack while a fake is open. SSM parameters are in
 * `parameters`; a container whose secret is missing does not start. A pool that a queue uses is also the cluster
 * `AWSBatch-POOL`, as Batch keeps one for each compute environment. An operation the fake lacks answers 501.
 * Memory: an instance offers 95% of what it is sold with. Time stands still without `auto`: nothing moves on from
 * PROVISIONING or SUBMITTED until the clock is advanced. See `control` for everything that can go wrong.
 */
import type * as batch from "@aws-sdk/client-batch";
import type * as ecs from "@aws-sdk/client-ecs";
import { JobDefinitions } from "./batch/definitions.ts";
import type { BatchState } from "./batch/handlers.ts";
import { Jobs, clusterNameOf, type Queue } from "./batch/jobs.ts";
import { realClock, virtualClock, type FakeAwsClock } from "./clock.ts";
import { FakeContainers, type StartContainer } from "./containers.ts";
import { CallFailures } from "./control.ts";
import { TaskDefinitions } from "./ecs/definitions.ts";
import type { EcsState } from "./ecs/run-task.ts";
import { Tasks } from "./ecs/tasks.ts";
import { FakeEvents, type EventListener } from "./events.ts";
import { FakeIds, arn, region } from "./ids.ts";
import type { FakeFunction } from "./lambda.ts";
import { LogStore } from "./log-store.ts";
import { Pool, type PoolSettings } from "./pool.ts";
import { listen, type Call } from "./server.ts";
import { servicesOf } from "./services.ts";
import type { SsmParameters } from "./ssm.ts";
import { StartFailures } from "./start-failures.ts";
import { FakeControl } from "./steer.ts";
import { refuseUnknownMembers } from "./strict-clients.ts";
import { autoDelays, usualDelays, type Delays, type World } from "./world.ts";

export type { FakeAwsClock } from "./clock.ts";
export type {
  ContainerExit,
  ContainerRun,
  FakeContainer,
  StartContainer,
  StartedContainer,
} from "./containers.ts";
export type { CallFailure, HowOften } from "./control.ts";
export type { AwsEvent } from "./events.ts";
export type { Call } from "./server.ts";

export interface FakeAwsOptions {
  pools?: PoolSettings[];
  /** `default` with Fargate, when absent. The first capacity provider is the default strategy. */
  clusters?: { name: string; capacityProviders: string[] }[];
  queues?: { name: string; pools?: string[]; timeLimits?: Queue["timeLimits"] }[];
  taskDefinitions?: ecs.RegisterTaskDefinitionRequest[];
  jobDefinitions?: batch.RegisterJobDefinitionRequest[];
  startContainer?: StartContainer;
  onEvent?: EventListener;
  /** Lambda, by function name. */
  functions?: Record<string, FakeFunction>;
  auto?: boolean;
  delays?: Partial<Delays>;
  /** Where virtual time starts. */
  startMs?: number;
}

export interface FakeAws {
  endpoint: string;
  /** For every SDK client. */
  clientConfig: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  clock: FakeAwsClock;
  control: FakeControl;
  /** Every container that was started. */
  containers: FakeContainers;
  /** Every request, in order. */
  calls: Call[];
  events: FakeEvents;
  logs: LogStore;
  /** SSM's, which the secrets of containers come from too. */
  parameters: SsmParameters;
  /** Tags of Lambda functions by name. One that has only tags is listed, and can be deleted. */
  functionTags: Map<string, Record<string, string>>;
  pools: ReadonlyMap<string, Pool>;
  close(): Promise<void>;
}

export async function startFakeAws(options: FakeAwsOptions = {}): Promise<FakeAws> {
  const world = worldOf(options);
  const ecsState = ecsOf(options, world);
  const batchState = batchOf(options, world);
  const failures = new CallFailures();
  const calls: Call[] = [];
  const services = servicesOf(world, ecsState, batchState, new Map(Object.entries(options.functions ?? {})));
  const acceptUnknownMembers = refuseUnknownMembers();
  const server = await listen({
    services,
    failures,
    calls,
    traffic: world.traffic,
    now: () => world.clock.now(),
  });
  return {
    endpoint: server.endpoint,
    clientConfig: {
      endpoint: server.endpoint,
      region,
      credentials: { accessKeyId: "fake", secretAccessKey: "fake" },
    },
    clock: world.clock,
    control: new FakeControl(failures, world, ecsState, batchState),
    containers: world.containers,
    calls,
    events: world.events,
    logs: world.logs,
    parameters: world.parameters,
    functionTags: world.functionTags,
    pools: world.pools,
    async close() {
      acceptUnknownMembers();
      await server.close();
      await world.containers.close();
      world.clock.close();
    },
  };
}

function worldOf(options: FakeAwsOptions): World {
  const traffic = { inFlight: 0, served: 0 };
  const startMs = options.startMs ?? Date.UTC(2026, 10, 29);
  const clock = options.auto === true ? realClock() : virtualClock(startMs, traffic);
  const delays = { ...(options.auto === true ? autoDelays : usualDelays), ...options.delays };
  const ids = new FakeIds();
  return {
    clock,
    traffic,
    ids,
    delays,
    pools: new Map((options.pools ?? []).map((each) => [each.name, new Pool(each, clock, ids, delays)])),
    containers: new FakeContainers(clock, options.startContainer),
    startFailures: new StartFailures(),
    events: new FakeEvents(clock, ids, delays.eventLatencyMs, options.onEvent),
    logs: new LogStore(),
    parameters: new Map(),
    functionTags: new Map(),
  };
}

function ecsOf(options: FakeAwsOptions, world: World): EcsState {
  const definitions = new TaskDefinitions(() => world.clock.now());
  for (const each of options.taskDefinitions ?? []) definitions.register(each);
  const own = options.clusters ?? [{ name: "default", capacityProviders: ["FARGATE", "FARGATE_SPOT"] }];
  const ofBatch = new Set((options.queues ?? []).flatMap(({ pools = [] }) => pools));
  const all = [
    ...own,
    ...[...ofBatch].map((pool) => ({ name: clusterNameOf(pool), capacityProviders: [pool] })),
  ];
  const clusters = all.map(({ name, capacityProviders }) => ({
    clusterName: name,
    clusterArn: arn("ecs", `cluster/${name}`),
    status: "ACTIVE",
    capacityProviders,
    defaultCapacityProviderStrategy: capacityProviders
      .slice(0, 1)
      .map((capacityProvider) => ({ capacityProvider, weight: 1 })),
  }));
  return {
    clusters: new Map(clusters.map((each) => [each.clusterName, each])),
    definitions,
    tasks: new Tasks(world),
    tokens: new Map(),
  };
}

function batchOf(options: FakeAwsOptions, world: World): BatchState {
  const definitions = new JobDefinitions();
  for (const each of options.jobDefinitions ?? []) definitions.register(each);
  const queues = (options.queues ?? []).map(({ name, pools = [], timeLimits = [] }): Queue => {
    const found = pools.map((each) => {
      const pool = world.pools.get(each);
      if (pool === undefined) throw new Error(`the queue ${name} names no pool: ${each}`);
      return pool;
    });
    return { name, arn: arn("batch", `job-queue/${name}`), pools: found, timeLimits };
  });
  return { queues: new Map(queues.map((each) => [each.name, each])), definitions, jobs: new Jobs(world) };
}
