import type { BatchState } from "./batch/handlers.ts";
import { finished } from "./batch/jobs.ts";
import type { CallFailure, CallFailures, HowOften } from "./control.ts";
import type { EcsState } from "./ecs/run-task.ts";
import type { EventFaults } from "./events.ts";
import type { Instance, Pool, PoolProblem } from "./pool.ts";
import type { World } from "./world.ts";

const outOfMemory = "OutOfMemoryError: Container killed due to memory usage";

/** Everything that can go wrong, on command. Tasks and jobs are named by their arn. */
export class FakeControl {
  readonly #failures: CallFailures;
  readonly #world: World;
  readonly #ecs: EcsState;
  readonly #batch: BatchState;

  constructor(failures: CallFailures, world: World, ecs: EcsState, batch: BatchState) {
    this.#failures = failures;
    this.#world = world;
    this.#ecs = ecs;
    this.#batch = batch;
  }

  /** The next call of this operation (`RunTask`, `ecs.*`, `*`) fails. The SDK itself retries throttling and 5xx. */
  failNext(operation: string, failure: CallFailure): void {
    this.#failures.failNext(operation, failure);
  }

  fail(operation: string, failure: CallFailure, often?: HowOften): void {
    this.#failures.fail(operation, failure, often);
  }

  /** No call arrives and events wait, until `down(false)`. What runs goes on running. */
  down(isDown: boolean): void {
    this.#failures.down(isDown);
    this.#world.events.hold(isDown);
  }

  downFor(ms: number): void {
    this.down(true);
    this.#world.clock.after(ms, () => this.down(false));
  }

  /** Forgets the call failures that are left. */
  clear(): void {
    this.#failures.clear();
    this.#world.events.hold(false);
    this.#world.events.faults({});
  }

  /** No instance of this pool can be launched until it is called with undefined. */
  capacity(pool: string, problem: PoolProblem | undefined): void {
    this.#pool(pool).problem = problem;
  }

  /** The next container does not start; `name` picks a task by startedBy or family, a job by its name. */
  failStart(reason: string, which?: { name?: string; count?: number }): void {
    this.#world.startFailures.add(reason, which);
  }

  cannotPull(which?: { name?: string; count?: number }): void {
    this.failStart(
      "CannotPullContainerError: pull image manifest has been retried 1 time(s): not found",
      which,
    );
  }

  /** Ends the container that runs now, by force where it is a real process. */
  exit(arn: string, code: number, reason?: string): void {
    const running = this.#world.containers.of(arn).filter(({ exit }) => exit === undefined);
    if (running.length === 0) throw new Error(`nothing runs for ${arn}`);
    for (const container of running) container.end(code, reason);
  }

  oom(arn: string): void {
    this.exit(arn, 137, outOfMemory);
  }

  /** ECS's own health check. */
  health(taskArn: string, status: "HEALTHY" | "UNHEALTHY" | "UNKNOWN"): void {
    this.#ecs.tasks.health(this.#task(taskArn), status);
  }

  /** The two-minute warning as an event, then the end of the instance under this task, job or instance id. */
  interruptSpot(target: string): void {
    const task = this.#ecs.tasks.records.get(target);
    if (task?.task.capacityProviderName === "FARGATE_SPOT") {
      this.#ecs.tasks.stop(task, "SpotInterruption", "Your Spot Task was interrupted.");
      return;
    }
    const { instance, pool } = this.#instance(target);
    this.#world.events.publish("aws.ec2", "EC2 Spot Instance Interruption Warning", [instance.id], {
      "instance-id": instance.id,
      "instance-action": "terminate",
    });
    this.#world.clock.after(this.#world.delays.spotWarningMs, () =>
      pool.terminate(instance, "Spot interruption."),
    );
  }

  /** Says that the instance under this task, job or instance id is likely to be reclaimed. Nothing else happens. */
  rebalance(target: string): void {
    const { instance } = this.#instance(target);
    this.#world.events.publish("aws.ec2", "EC2 Instance Rebalance Recommendation", [instance.id], {
      "instance-id": instance.id,
    });
  }

  /** The instance under this task, job or instance id ends now. */
  terminateInstance(target: string): void {
    const { instance, pool } = this.#instance(target);
    pool.terminate(instance, "User initiated.");
  }

  /** An instance that nothing asked for. It never goes away by itself. Returns its id. */
  orphanInstance(pool: string, tags: Record<string, string> = {}): string {
    const instance = this.#pool(pool).launch(true);
    for (const [key, value] of Object.entries(tags)) instance.tags.set(key, value);
    return instance.id;
  }

  /** Loses, doubles and reorders events with these probabilities. */
  events(faults: EventFaults): void {
    this.#world.events.faults(faults);
  }

  #pool(name: string): Pool {
    const pool = this.#world.pools.get(name);
    if (pool === undefined) throw new Error(`no pool ${name}`);
    return pool;
  }

  #task(arn: string) {
    const record = this.#ecs.tasks.records.get(arn);
    if (record === undefined) throw new Error(`no task ${arn}`);
    return record;
  }

  #instance(target: string): { instance: Instance; pool: Pool } {
    const job = [...this.#batch.jobs.records.values()].find(
      (each) => each.job.jobArn === target || each.job.jobId === target,
    );
    const under =
      job !== undefined && !finished(job) ? job.instance : this.#ecs.tasks.records.get(target)?.instance;
    for (const pool of this.#world.pools.values()) {
      const instance = under ?? pool.instances.find(({ id }) => id === target);
      if (instance !== undefined && pool.instances.includes(instance)) return { instance, pool };
    }
    throw new Error(`no instance under ${target}`);
  }
}
