import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock, Log } from "../ports/clock.ts";
import type {
  ContainerHandle,
  ContainerKind,
  Containers,
  ContainerSpec,
  ContainerState,
} from "../ports/containers.ts";
import { awsApis, type AwsApis } from "./aws-containers/apis.ts";
import { readEvent, type TaskChange } from "./aws-containers/events.ts";
import { clusterOf, drain, ec2Instances, instancesOn } from "./aws-containers/instances.ts";
import type { AwsContainersParams } from "./aws-containers/params.ts";
import { PlatformContainers } from "./aws-containers/platform-containers.ts";
import type { View } from "./aws-containers/sightings.ts";
import { BatchContainers } from "./batch-containers.ts";
import { isOver, viewOfJob, type JobView } from "./batch-containers/job-state.ts";
import { EcsContainers } from "./ecs-containers.ts";
import type { TaskView } from "./ecs-containers/task-state.ts";

export interface AwsContainersOptions {
  params: AwsContainersParams;
  clock: Clock;
  log: Log;
  /** Default: the clients of AWS, loaded when they are first needed. */
  apis?: AwsApis;
  /** Applied to every log line that leaves. */
  redact?: (text: string) => string;
  /** Between two looks at something that is to end. Default 2000. */
  pollMs?: number;
  /** What was seen this long ago is not asked for again. Default 1000. */
  freshMs?: number;
}

/** One thing that runs or waits on AWS, as the sweep sees it. */
export type Living = View & { platform: "ecs" | "batch" };

/**
 * Containers on AWS: replicas are tasks of ECS, runs, evals and conversions jobs of Batch. Nothing is kept that could not be
 * asked for again, so any number of processes may use one stack, and each may end at any time.
 */
export class AwsContainers implements Containers {
  readonly #options: AwsContainersOptions;
  readonly #apis: AwsApis;
  readonly #ecs: PlatformContainers<TaskView>;
  readonly #batch: PlatformContainers<JobView>;
  readonly #listeners = new Set<(jobId: string) => void>();
  #closed = false;

  constructor(options: AwsContainersOptions) {
    this.#options = options;
    const { params, clock, log, redact, pollMs, freshMs } = options;
    const { region, endpoint, logGroup } = params;
    this.#apis = options.apis ?? awsApis({ region, endpoint });
    const changed = (jobId: string) => this.#changed(jobId);
    const shared = { apis: this.#apis, clock, log, logGroup, redact, pollMs, freshMs, changed };
    this.#ecs = new PlatformContainers(new EcsContainers(params, this.#apis, clock), shared);
    this.#batch = new PlatformContainers(new BatchContainers(params, this.#apis), shared);
  }

  async launch(spec: ContainerSpec): Promise<ContainerHandle> {
    if (this.#closed) throw new SpotterError("capacity", "This process is ending; the next one launches.");
    await (spec.kind === "serve" ? this.#ecs : this.#batch).launch(spec);
    return { jobId: spec.jobId };
  }

  async describe(jobId: string): Promise<ContainerState> {
    const states = await Promise.all(this.#homesOf(jobId).map((home) => home.describe(jobId)));
    return states.find(({ state }) => state !== "unknown") ?? { state: "unknown" };
  }

  /**
   * Asks it to end and resolves when it is gone. The time until it is ended by force is that of its task or job
   * definition: neither service takes one with the call.
   */
  async stop(jobId: string, _graceMs: number): Promise<void> {
    await Promise.all(this.#homesOf(jobId).map((home) => home.stop(jobId)));
  }

  async list(): Promise<{ jobId: string; kind: ContainerKind }[]> {
    const kinds = new Map((await this.living()).map(({ jobId, kind }) => [jobId, kind]));
    return [...kinds].map(([jobId, kind]) => ({ jobId, kind }));
  }

  /** Everything of this stack that runs or waits, doubles one by one: for the sweep. */
  async living(): Promise<Living[]> {
    const [tasks, jobs] = await Promise.all([this.#ecs.list(), this.#batch.list()]);
    return [
      ...tasks.map((view) => ({ ...view, platform: "ecs" as const })),
      ...jobs.map((view) => ({ ...view, platform: "batch" as const })),
    ];
  }

  /** Ends one task or job without waiting for it. `words` tell people why. */
  async end({ platform, id }: Pick<Living, "platform" | "id">, words: string): Promise<void> {
    await (platform === "ecs" ? this.#ecs : this.#batch).end(id, words);
  }

  /** Container instances whose GPUs are broken, by what their last containers wrote. Each is told once. */
  takeBrokenInstances(): string[] {
    return [...this.#ecs.takeBrokenInstances(), ...this.#batch.takeBrokenInstances()];
  }

  /**
   * Takes in an event of EventBridge. They come late, twice and in any order: one that tells nothing new does
   * nothing, and none moves a state backwards.
   *
   * @returns Jobs of replicas whose instance may soon be taken back. They go on; others should be ready by then.
   */
  async heard(event: unknown): Promise<string[]> {
    const heard = readEvent(event);
    if (heard?.type === "task") await this.#heardOfTask(heard.change);
    if (heard?.type === "spot") await this.#spareTime(heard.instanceId);
    if (heard?.type === "rebalance") return await this.#replicasToLeave(heard.instanceId);
    if (heard?.type !== "job") return [];
    const view = viewOfJob(this.#options.params.stack, heard.job);
    const [id = "", node] = heard.job.jobId.split("#");
    const hasNodes = node !== undefined || heard.job.nodeProperties !== undefined;
    // Batch numbers nothing: only an end is believed, for the rest it is asked. Of several nodes the main one tells
    // how a job ended.
    if (view !== undefined && isOver(view) && !hasNodes) this.#batch.heard(view);
    else await this.#batch.heardOf(id);
    return [];
  }

  async #heardOfTask(change: TaskChange): Promise<void> {
    // Batch runs its jobs as tasks of clusters of its own, which are told of as jobs.
    if (clusterOf(change.taskArn) !== clusterName(this.#options.params.cluster)) return;
    const known = this.#ecs.seen(change.taskArn);
    // An event has no tags: whose task it is only ECS can say.
    if (known === undefined) return await this.#ecs.heardOf(change.taskArn);
    const { containerName } = this.#options.params;
    const container = change.containers.find(({ name }) => name === containerName) ?? change.containers[0];
    this.#ecs.heard({
      ...known,
      version: change.version,
      lastStatus: change.lastStatus,
      stopCode: change.stopCode ?? known.stopCode,
      stoppedReason: change.stoppedReason ?? known.stoppedReason,
      startedAtMs: change.startedAt ?? known.startedAtMs,
      instanceArn: change.containerInstanceArn ?? known.instanceArn,
      exitCode: container?.exitCode ?? known.exitCode,
      containerReason: container?.reason ?? known.containerReason,
    });
  }

  /**
   * Two minutes before a spot instance goes: nothing new may come to lie on it, and what runs there is told now, so
   * that it can save. Without the first, whoever comes next is told the same a moment later.
   */
  async #spareTime(instanceId: string): Promise<void> {
    for (const arn of await this.#containerInstances(instanceId)) {
      await this.#drain(arn);
      await Promise.all([this.#ecs.endOnInstance(arn), this.#batch.endOnInstance(arn)]);
    }
  }

  /**
   * The hint that an instance may be taken back: replicas can be replaced before it is. A run saves at its own
   * intervals and at the warning; ending it for a hint would cost more than it spares.
   */
  async #replicasToLeave(instanceId: string): Promise<string[]> {
    const own = clusterName(this.#options.params.cluster);
    const arns = (await this.#containerInstances(instanceId)).filter((arn) => clusterOf(arn) === own);
    for (const arn of arns) await this.#drain(arn);
    const there = (await this.#ecs.list()).filter(({ instanceArn = "" }) => arns.includes(instanceArn));
    return there.filter(({ kind }) => kind === "serve").map(({ jobId }) => jobId);
  }

  /** What ECS and Batch call that EC2 instance, in any cluster. */
  async #containerInstances(instanceId: string): Promise<string[]> {
    const api = await this.#apis.ecs();
    const used = (await this.living()).flatMap(({ instanceArn }) => instanceArn ?? []);
    const known = [...(await ec2Instances(api, used))].filter(([, ec2Id]) => ec2Id === instanceId);
    const idle = await instancesOn(api, this.#options.params.cluster, instanceId);
    return [...new Set([...known.map(([instanceArn]) => instanceArn), ...idle])];
  }

  async #drain(arn: string): Promise<void> {
    await drain(await this.#apis.ecs(), arn).catch((error: unknown) => {
      const words = "an instance that is taken back still takes tasks";
      this.#options.log.warn(words, { arn, error: String(error) });
    });
  }

  onChange(listener: (jobId: string) => void): () => void {
    // A wrapper, so that the same function can listen twice.
    const own = (jobId: string) => listener(jobId);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async logs(jobId: string, lines: number): Promise<string[]> {
    const all = await Promise.all(this.#homesOf(jobId).map((home) => home.logs(jobId, lines)));
    return all.find((each) => each.length > 0) ?? [];
  }

  /** The services forget by themselves; this forgets what was kept here. */
  async forget(jobId: string): Promise<void> {
    for (const home of this.#homesOf(jobId)) home.forget(jobId);
  }

  /** Ends everything, unless it is left running, as it is where a process of many goes down. */
  async close({ leaveRunning = false }: { leaveRunning?: boolean } = {}): Promise<void> {
    this.#closed = true;
    if (!leaveRunning) await Promise.all((await this.list()).map(({ jobId }) => this.stop(jobId, 0)));
    this.#listeners.clear();
  }

  /** The control plane's ids tell the kind; others are looked for everywhere. */
  #homesOf(jobId: string): (PlatformContainers<TaskView> | PlatformContainers<JobView>)[] {
    if (jobId.startsWith("serve-")) return [this.#ecs];
    if (/^(train|eval|convert)-/.test(jobId)) return [this.#batch];
    return [this.#ecs, this.#batch];
  }

  #changed(jobId: string): void {
    for (const listener of this.#listeners) {
      // Later, so that a listener's failure is its own; but not to one that has left meanwhile.
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(jobId);
      });
    }
  }
}

/** A cluster may be given by its name or its ARN. */
function clusterName(cluster: string): string {
  return cluster.slice(cluster.lastIndexOf("/") + 1);
}
