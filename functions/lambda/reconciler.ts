import { awsApis } from "../aws/aws-containers/apis.ts";
import type { AwsContainers } from "../aws/aws-containers.ts";
import { blobs } from "../aws/aws-deps/blobs.ts";
import { sweepIsolates, type IsolateSweepMemory } from "../aws/aws-deps/isolate-sweep.ts";
import { containers, type ContainerSettings } from "../aws/aws-deps/containers.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import { isRecent } from "../aws/recent.ts";
import { runSweep } from "../aws/sweep/run-sweep.ts";
import type { Control } from "../control.ts";
import { noteLeaving } from "../jobs/records.ts";
import { createReconciler, type Reconciler, type ReconcilerMemory } from "../reconciler/reconciler.ts";
import { trackerHttp } from "../trackers/tracker-http.ts";
import { createTrackers, type Trackers } from "../trackers/trackers.ts";
import { sendOverHttp } from "../webhooks/send.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";
import { eventFunction } from "./host/event-function.ts";
import type { LambdaContext } from "./host/function-url.ts";
import { takeTurns } from "./host/turn.ts";

/** As often as the schedule calls. */
const SCHEDULE_MS = 60_000;
/** What is due so soon is waited for: a replica that is about to answer, a deadline that is almost over. */
const SOON_MS = 2_000;
/** The longest one turn may take, so that news of others is not kept waiting. */
const TURN_MS = 15_000;
const SWEEP_EVERY_MS = 10 * 60_000;
/** Time that must be left for another turn. */
const LEAST_MS = 20_000;

interface Memory extends ReconcilerMemory {
  sweptAtMs: number;
  isolates?: IsolateSweepMemory;
}

let reconciler: Reconciler | undefined;
let webhooks: Webhooks | undefined;
let trackers: Trackers | undefined;
let running: AwsContainers | undefined;

/**
 * Keeps the stack as its records want it: called by the schedule, by events of ECS, Batch and EC2, and by whoever
 * wrote something down. Twice at once is harmless: one works, the other leaves word.
 */
export const handler = eventFunction(
  {
    adapters: {
      blobs,
      secrets,
      store,
      containers: {
        ...containers,
        open(settings, context) {
          running = containers.open(settings as unknown as ContainerSettings, context);
          return running;
        },
      },
    },
    // Its word counts: a replica says that it is ready when it has answered itself, and only what is in the network
    // of the stack can ask it. A function in there would have no way to AWS without a NAT gateway, and would keep
    // the network from being destroyed.
    probe: () => Promise.resolve(true),
    keepsText: true,
    wake: { wake: () => reconciler?.wake(), wakeWebhooks: () => webhooks?.wake() },
  },
  async ({ control, settings }, event, context) => {
    // What cannot be taken in must not keep what there is to do from being done.
    const missed = await heard(control, event).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    webhooks ??= createWebhooks(control, sendOverHttp);
    trackers ??= createTrackers(control, trackerHttp);
    const { turns, isLeft } = await takeTurns<Memory>(
      {
        store: control.store,
        clock: control.clock,
        key: { partition: "turns", sort: "reconciler" },
        ttlMs: () => context.getRemainingTimeInMillis(),
        leastMs: LEAST_MS,
      },
      async (memory) => {
        const { lastPassAtMs, leasesFromMs } = await reconcile(control, memory, context);
        const { cluster } = (settings as unknown as ContainerSettings).SPOTTER_CONTAINERS;
        const { clock, log } = control;
        return {
          lastPassAtMs,
          leasesFromMs,
          sweptAtMs: await sweep(control, cluster, memory?.sweptAtMs ?? 0),
          isolates: await sweepIsolates({ stack: settings.SPOTTER_STACK, clock, log }, memory?.isolates),
        };
      },
    );
    if (isLeft) control.shared?.wake("reconciler");
    // Lambda brings the event again.
    if (missed !== undefined) throw missed.error;
    return { turns };
  },
);

async function heard(control: Control, event: unknown): Promise<void> {
  await noteLeaving(control, (await running?.heard(event)) ?? []);
}

async function reconcile(
  control: Control,
  memory: ReconcilerMemory | undefined,
  context: LambdaContext,
): Promise<ReconcilerMemory> {
  const mine = (reconciler = createReconciler(control, { sweepEveryMs: SCHEDULE_MS, memory }));
  const sending = [webhooks, trackers];
  const untilMs = control.clock.now() + Math.min(TURN_MS, context.getRemainingTimeInMillis() / 2);
  const isOver = () => control.clock.now() >= untilMs;
  mine.wake();
  for (const each of sending) each?.wake();
  for (;;) {
    // A stop may take minutes; it was asked for, and its end is an event.
    await Promise.race([
      Promise.all([mine.settle(), ...sending.map((each) => each?.settle())]),
      at(control, untilMs),
    ]);
    if (isOver() || mine.dueInMs > SOON_MS) break;
    await at(control, control.clock.now() + Math.max(1, mine.dueInMs));
  }
  mine.close().catch((error: unknown) => control.log.error("the reconciler did not end", { error }));
  return mine.memory;
}

async function sweep(control: Control, cluster: string, sweptAtMs: number): Promise<number> {
  const nowMs = control.clock.now();
  if (running === undefined || isRecent(sweptAtMs, nowMs, SWEEP_EVERY_MS)) return sweptAtMs;
  try {
    const { store, clock, log } = control;
    const actions = await runSweep({ containers: running, apis: awsApis({}), cluster, store, clock, log });
    if (actions.length > 0) log.warn("swept up", { actions });
  } catch (error) {
    // The next one comes in ten minutes; the records are right without it.
    control.log.error("the sweep failed", { error });
  }
  return nowMs;
}

function at(control: Control, timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Not the clock's timers: those let a process end that has nothing else to do.
    setTimeout(resolve, Math.max(0, timeMs - control.clock.now()));
  });
}
