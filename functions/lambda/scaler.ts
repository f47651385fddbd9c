import { createAutoscaler, type Autoscaler } from "../autoscaler/autoscaler.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { eventFunction } from "./host/event-function.ts";

/** A lease that was not given up is taken over after some seconds of watching. */
const TAKE_OVER_MS = 12_000;
const LOOK_EVERY_MS = 1_000;
/** Left for writing down what was decided. */
const END_BEFORE_MS = 20_000;

/**
 * Scales where no gateway lives long enough to do it: called each minute, and by a chat that finds nobody awake.
 * While replicas are up or asked for it stays, as what it saw of the last minutes decides when they go; then it
 * costs nothing beside them. While all sleep it leaves at once.
 */
export const handler = eventFunction({ adapters: { store } }, async ({ control }, _event, context) => {
  const autoscaler = createAutoscaler(control);
  await autoscaler.start();
  const begunAtMs = control.clock.now();
  try {
    while (context.getRemainingTimeInMillis() > END_BEFORE_MS) {
      if (!mayStay(control, autoscaler, begunAtMs)) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    await autoscaler.settle();
    return { wasElected: autoscaler.isElected };
  } finally {
    // The next one takes it up at once.
    await autoscaler.close();
  }
});

function mayStay(control: Control, autoscaler: Autoscaler, begunAtMs: number): boolean {
  const all = control.routes.all().filter(isServing);
  const isNeeded = all.some(({ name, desired, replicas }) => {
    const { inFlight, queued } = control.fleet.load(name);
    return desired + replicas.length + inFlight + queued > 0;
  });
  // Somebody else decides, and stays; or did, and is gone.
  return isNeeded && (autoscaler.isElected || control.clock.now() - begunAtMs < TAKE_OVER_MS);
}
