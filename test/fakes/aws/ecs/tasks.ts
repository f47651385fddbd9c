import type { ContainerDefinition, Task, TaskDefinition, TaskOverride } from "@aws-sdk/client-ecs";
import type { FakeContainer } from "../containers.ts";
import type { Instance, Lease, Pool } from "../pool.ts";
import { startProblemOf, type World } from "../world.ts";
import { containerArn, needsOf, networkOf, runOf } from "./task-parts.ts";

export interface TaskRecord {
  task: Task & { taskArn: string; lastStatus: string; desiredStatus: string; version: number };
  definition: TaskDefinition;
  overrides: TaskOverride;
  tags: { key?: string; value?: string }[];
  running: FakeContainer[];
  lease: { pool: Pool; lease: Lease } | undefined;
  instance: Instance | undefined;
  /** Its host is going: exit codes are lost. */
  hostLost: boolean;
  starting: boolean;
}

const keptMs = 3_600_000;

/** The life of tasks: PROVISIONING, PENDING, RUNNING, DEPROVISIONING, STOPPED, and forgotten an hour later. */
export class Tasks {
  readonly records = new Map<string, TaskRecord>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** `pool` undefined: Fargate, which always has room. */
  create(record: TaskRecord, pool: Pool | undefined): void {
    this.records.set(record.task.taskArn, record);
    this.#changed(record);
    if (pool === undefined) {
      this.#world.clock.after(this.#world.delays.taskProvisioningMs, () => this.#pend(record));
      return;
    }
    const lease = pool.acquire({
      needs: needsOf(record.definition, record.overrides),
      onPlaced: (instance) => {
        record.instance = instance;
        record.task.containerInstanceArn = containerArn("container-instance", record, instance.id);
        this.#world.clock.after(this.#world.delays.taskProvisioningMs, () => this.#pend(record));
      },
      onLost: (why) => this.#hostLost(record, why),
    });
    record.lease = { pool, lease };
  }

  /** Asks it to end; a task that is ending already stays as it is. */
  stop(record: TaskRecord, stopCode: Task["stopCode"], stoppedReason: string): void {
    const { task } = record;
    if (task.desiredStatus === "STOPPED") return;
    task.desiredStatus = "STOPPED";
    task.stopCode = stopCode;
    task.stoppedReason = stoppedReason;
    task.stoppingAt = new Date(this.#world.clock.now());
    this.#changed(record);
    for (const container of record.running) this.#world.containers.stop(container, graceMsOf(container));
    this.#finishWhenIdle(record);
  }

  health(record: TaskRecord, status: "HEALTHY" | "UNHEALTHY" | "UNKNOWN"): void {
    record.task.healthStatus = status;
    for (const container of record.task.containers ?? []) container.healthStatus = status;
    this.#changed(record);
  }

  #to(record: TaskRecord, status: string): void {
    record.task.lastStatus = status;
    for (const container of record.task.containers ?? []) {
      if (status === "PENDING" || status === "RUNNING" || status === "STOPPED") container.lastStatus = status;
    }
    this.#changed(record);
  }

  #pend(record: TaskRecord): void {
    if (record.task.desiredStatus === "STOPPED") return;
    record.task.pullStartedAt = new Date(this.#world.clock.now());
    this.#to(record, "PENDING");
    this.#world.clock.after(this.#world.delays.taskPendingMs, () => void this.#run(record));
  }

  async #run(record: TaskRecord): Promise<void> {
    const { task, definition } = record;
    if (task.desiredStatus === "STOPPED") return;
    task.pullStoppedAt = new Date(this.#world.clock.now());
    record.starting = true;
    const problem = await this.#startAll(record);
    record.starting = false;
    if (problem !== undefined) {
      for (const container of task.containers ?? []) container.reason = problem;
      this.stop(record, "TaskFailedToStart", problem);
      return this.#finishWhenIdle(record);
    }
    // Stopped while it was starting.
    if (task.desiredStatus === "STOPPED") return this.#stopStarted(record);
    task.startedAt = new Date(this.#world.clock.now());
    task.connectivity = "CONNECTED";
    const checked = definition.containerDefinitions?.some(({ healthCheck }) => healthCheck !== undefined);
    task.healthStatus = checked === true ? "HEALTHY" : "UNKNOWN";
    this.#to(record, "RUNNING");
  }

  /** Why it does not start, if it does not. */
  async #startAll(record: TaskRecord): Promise<string | undefined> {
    const { task, definition } = record;
    const injected = this.#world.startFailures.take(task.startedBy, definition.family);
    if (injected !== undefined) return injected;
    for (const each of definition.containerDefinitions ?? []) {
      try {
        const run = runOf(each, record, this.#world);
        const container = await this.#world.containers.start(each, run);
        record.running.push(container);
        networkOf(record, each, container);
        void container.exited.then(() => this.#exited(record, each, container));
      } catch (error) {
        return startProblemOf(error);
      }
    }
    return undefined;
  }

  #stopStarted(record: TaskRecord): void {
    for (const container of record.running) this.#world.containers.stop(container, graceMsOf(container));
    this.#finishWhenIdle(record);
  }

  #exited(record: TaskRecord, definition: ContainerDefinition, container: FakeContainer): void {
    const shown = record.task.containers?.find(({ name }) => name === definition.name);
    if (shown !== undefined) {
      shown.lastStatus = "STOPPED";
      if (!record.hostLost) {
        shown.exitCode = container.exit?.code;
        shown.reason = container.exit?.reason;
      }
    }
    if (definition.essential !== false) {
      this.stop(record, "EssentialContainerExited", "Essential container in task exited");
    }
    this.#finishWhenIdle(record);
  }

  #finishWhenIdle(record: TaskRecord): void {
    const { task } = record;
    const busy = record.starting || record.running.some(({ exit }) => exit === undefined);
    if (task.desiredStatus !== "STOPPED" || busy) return;
    if (task.lastStatus === "DEPROVISIONING" || task.lastStatus === "STOPPED") return;
    task.executionStoppedAt = new Date(this.#world.clock.now());
    this.#to(record, "DEPROVISIONING");
    this.#world.clock.after(this.#world.delays.taskDeprovisioningMs, () => this.#stopped(record));
  }

  #stopped(record: TaskRecord): void {
    record.task.stoppedAt = new Date(this.#world.clock.now());
    record.task.connectivity = "DISCONNECTED";
    this.#to(record, "STOPPED");
    record.lease?.pool.release(record.lease.lease);
    this.#world.clock.after(keptMs, () => this.records.delete(record.task.taskArn));
  }

  #hostLost(record: TaskRecord, why: string): void {
    record.hostLost = true;
    this.stop(record, "TerminationNotice", why);
  }

  #changed({ task }: TaskRecord): void {
    task.version += 1;
    this.#world.events.publish("aws.ecs", "ECS Task State Change", [task.taskArn], {
      ...task,
      updatedAt: new Date(this.#world.clock.now()),
    });
  }
}

const graceMsOf = ({ definition }: FakeContainer): number =>
  ("stopTimeout" in definition ? (definition.stopTimeout ?? 30) : 30) * 1000;
