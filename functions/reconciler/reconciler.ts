import type { Control } from "../control.ts";
import { finishDeletes } from "../runs/delete.ts";
import { releaseTeachers } from "../teachers/serve.ts";
import { createWorkLoop } from "../records/work-loop.ts";
import { decide, nextDeadline } from "./decide.ts";
import { execute, type Stops } from "./execute.ts";
import { observe } from "./observe.ts";
import type { Policy } from "./views.ts";

const SWEEP_EVERY_MS = 5_000;
const PROBE_AGAIN_MS = 100;
/** Without a pass for this many sweeps, whoever makes them was away: asleep, stopped, or starved. */
const GAP_SWEEPS = 4;
const MAX_START_FAILURES = 3;
/** Weights of a large model take minutes to load; one that still beats after this hangs. */
const REPLICA_START_MS = 15 * 60_000;
/** A spot market that is this bad needs somebody to look. */
const MAX_PREEMPTIONS = 20;
const CANCEL_GRACE_MS = 60_000;

/** What one reconciler tells the next, where none lives long. */
export interface ReconcilerMemory {
  lastPassAtMs: number;
  /** After a time in which nobody looked, every lease counts anew from its end. */
  leasesFromMs: number;
}

export interface ReconcilerOptions {
  /** Time between two passes without a wake. Default 5000. */
  sweepEveryMs?: number;
  /** Of the reconciler before; by default this one is the first. */
  memory?: ReconcilerMemory | undefined;
}

export interface Reconciler {
  /** As of the last pass. */
  readonly memory: ReconcilerMemory;
  /** Time until it looks by itself. */
  readonly dueInMs: number;
  /** Looks again soon; many calls make one look. */
  wake(): void;
  /** Resolves when nothing is left to do at this moment. */
  settle(): Promise<void>;
  /** Ends it: the pass that runs is finished, nothing new begins. */
  close(): Promise<void>;
}

/** Keeps the world as the records want it: on every wake, and by a sweep. */
export function createReconciler(control: Control, options: ReconcilerOptions = {}): Reconciler {
  const { sweepEveryMs = SWEEP_EVERY_MS } = options;
  const stopping = new Map<string, Promise<void>>();
  const stops: Stops = { stop };
  let hasFinishedDeletes = false;
  const bornAtMs = control.clock.now();
  let { lastPassAtMs, leasesFromMs } = options.memory ?? { lastPassAtMs: bornAtMs, leasesFromMs: bornAtMs };
  let dueAtMs = bornAtMs;

  const loop = createWorkLoop(control.clock, pass, (error) => {
    control.log.error("reconcile failed", { error: describe(error) });
    return SWEEP_EVERY_MS;
  });
  const unsubscribe = control.containers.onChange(() => loop.wake());

  /** One look and what follows from it. Resolves to the time until the next one. */
  async function pass(): Promise<number> {
    const now = control.clock.now();
    if (now - lastPassAtMs > GAP_SWEEPS * sweepEveryMs) leasesFromMs = now;
    lastPassAtMs = now;
    if (!hasFinishedDeletes) {
      hasFinishedDeletes = true;
      await finishDeletes(control);
    }
    await releaseTeachers(control);
    const world = await observe(control);
    const actions = decide(world, now, policy());
    let isProbing = false;
    for (const action of actions) {
      try {
        if (await execute(control, stops, action)) loop.wake();
        else if (action.type === "probe-replica") isProbing = true;
      } catch (error) {
        control.log.error("action failed", { action: action.type, error: describe(error) });
      }
    }
    const deadline = nextDeadline(world, now);
    const untilDeadline = deadline === undefined ? sweepEveryMs : deadline - now;
    const waitMs = Math.max(
      1,
      Math.min(sweepEveryMs, untilDeadline, isProbing ? PROBE_AGAIN_MS : sweepEveryMs),
    );
    dueAtMs = now + waitMs;
    return waitMs;
  }

  function policy(): Policy {
    const { leaseMs, maxAttempts } = control.config;
    return {
      leaseMs,
      maxAttempts,
      maxPreemptions: MAX_PREEMPTIONS,
      maxStartFailures: MAX_START_FAILURES,
      startMs: REPLICA_START_MS,
      cancelGraceMs: CANCEL_GRACE_MS,
      leasesFromMs,
    };
  }

  function stop(jobId: string, graceMs: number): void {
    if (stopping.has(jobId)) return;
    const promise = control.containers
      .stop(jobId, graceMs)
      .catch((error: unknown) => {
        control.log.error("container did not stop", { jobId, error: describe(error) });
      })
      .finally(() => {
        stopping.delete(jobId);
        loop.wake();
      });
    stopping.set(jobId, promise);
  }

  return {
    get memory() {
      return { lastPassAtMs, leasesFromMs };
    },
    get dueInMs() {
      return dueAtMs - control.clock.now();
    },
    wake: () => loop.wake(),
    async settle() {
      do {
        await loop.settle();
        await Promise.all(stopping.values());
      } while (stopping.size > 0 || loop.isBusy);
    },
    async close() {
      unsubscribe();
      await loop.close();
      await Promise.all(stopping.values());
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
