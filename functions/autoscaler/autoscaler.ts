import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import type { Control } from "../control.ts";
import { changeEndpoint } from "../endpoints/records.ts";
import { isServing } from "../endpoints/transitions.ts";
import { decide } from "./decide.ts";
import type { Decision, ScalerState } from "./views.ts";

const EVERY_MS = 2_000;

export interface Autoscaler {
  /** Reads which endpoints there are and begins to watch those that may scale. */
  start(): Promise<void>;
  /** Resolves when nothing is left to decide or to write at this moment. */
  settle(): Promise<void>;
  /** Ends it: what is being written is finished, nothing new begins. */
  close(): Promise<void>;
}

/**
 * Decides every two seconds how many replicas each endpoint should have, and at once when a request comes to
 * one that sleeps. It writes `desired` by compare-and-set; the reconciler launches and stops.
 */
export function createAutoscaler(control: Control): Autoscaler {
  const states = new Map<string, ScalerState>();
  const writing = new Map<string, Promise<void>>();
  let cancelTimer: (() => void) | undefined;
  let closed = false;

  const unsubscribes = [
    control.routes.onChange((endpoint) => {
      if (!isServing(endpoint)) states.delete(endpoint.name);
      else if (mayScale(endpoint)) schedule();
    }),
    control.load.onAccept((name) => {
      const endpoint = control.routes.find(name);
      if (endpoint?.desired === 0) look(endpoint);
    }),
    // A replica that drains is stopped when its last request has ended.
    control.load.onIdle((name, jobId) => {
      const replica = control.routes.find(name)?.replicas.find((each) => each.jobId === jobId);
      if (replica?.state === "draining") control.wake();
    }),
  ];

  /** No timer runs while there is nothing to decide. */
  function schedule(): void {
    if (closed || cancelTimer !== undefined) return;
    cancelTimer = control.clock.after(EVERY_MS, () => {
      cancelTimer = undefined;
      const endpoints = control.routes.all().filter((each) => isServing(each) && mayScale(each));
      if (endpoints.length > 0) schedule();
      for (const endpoint of endpoints) look(endpoint);
    });
  }

  function look(endpoint: Endpoint): void {
    const { name } = endpoint;
    // One decision at a time: however many wait, there is one wake.
    if (closed || !isServing(endpoint) || writing.has(name)) return;
    const decision = decideNow(endpoint, states.get(name));
    states.set(name, decision.nextState);
    if (decision.desired === endpoint.desired) return;
    const write = apply(control, endpoint, decision)
      .catch((error: unknown) => {
        control.log.error("scaling was not written", { endpoint: name, error: String(error) });
      })
      .finally(() => {
        writing.delete(name);
        const after = control.routes.find(name);
        // Who came while it was being put to sleep is not made to wait for the next look.
        const isAsleep = decision.desired === 0 && after?.desired === 0;
        if (isAsleep && control.load.queued(name) > 0) look(after);
      });
    writing.set(name, write);
  }

  /** One that comes up is not idle: whoever waits until it is ready has not asked yet. */
  function decideNow(endpoint: Endpoint, state: ScalerState | undefined): Decision {
    const now = control.clock.now();
    const scaling = scalingOf(endpoint.scaling);
    const isUp = endpoint.state === "ready";
    const settings = isUp ? scaling : { ...scaling, min: Math.max(1, scaling.min) };
    const snapshot = { desired: endpoint.desired, load: control.load.snapshot(endpoint.name) };
    const decision = decide(state, snapshot, now, settings);
    return isUp ? decision : { ...decision, nextState: { ...decision.nextState, watchedSinceMs: now } };
  }

  return {
    async start() {
      await control.routes.load();
      schedule();
    },
    async settle() {
      while (writing.size > 0) await Promise.all(writing.values());
    },
    async close() {
      closed = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
      cancelTimer?.();
      await Promise.all(writing.values());
    },
  };
}

function mayScale(endpoint: Endpoint): boolean {
  const { min, max } = scalingOf(endpoint.scaling);
  return min < max || endpoint.desired < min || endpoint.desired > max;
}

async function apply(control: Control, { name, desired: from }: Endpoint, decision: Decision): Promise<void> {
  const { desired, reason } = decision;
  let isWritten = false;
  await changeEndpoint(control, name, (current) => {
    isWritten = false;
    if (current === undefined || !isServing(current.endpoint) || current.endpoint.desired !== from) return;
    const load = control.load.snapshot(name);
    if (desired === 0 && load.inFlight + load.queued > 0) return;
    isWritten = true;
    return { ...current, endpoint: { ...current.endpoint, desired } };
  });
  if (!isWritten) return;
  control.log.info("endpoint scaled", { endpoint: name, from, to: desired, reason });
  control.wake();
}
