import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import type { Control } from "../control.ts";
import { changeEndpoint } from "../endpoints/records.ts";
import { isServing } from "../endpoints/transitions.ts";
import { createElection, type Election } from "./election.ts";
import { decide } from "./decide.ts";
import type { Decision, ScalerState } from "./views.ts";

const EVERY_MS = 2_000;

export interface Autoscaler {
  /** This process is the one that decides, at this moment. */
  readonly isElected: boolean;
  /** Reads which endpoints there are and begins to watch those that may scale. */
  start(): Promise<void>;
  /** Resolves when nothing is left to decide or to write at this moment. */
  settle(): Promise<void>;
  /** Ends it: what is being written is finished, nothing new begins. */
  close(): Promise<void>;
}

/**
 * Of several processes the one that holds the lease does it, for all of them. It decides every two seconds how many replicas each endpoint should have, and at once when a request comes to
 * one that sleeps. It writes `desired` by compare-and-set; the reconciler launches and stops.
 */
export function createAutoscaler(control: Control): Autoscaler {
  const states = new Map<string, ScalerState>();
  const writing = new Map<string, Promise<void>>();
  const election = createElection(control);
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
    // Who waits at another gateway.
    control.fleet.onLook(() => {
      for (const endpoint of control.routes.all())
        if (endpoint.desired === 0 && control.fleet.load(endpoint.name).queued > 0) look(endpoint);
    }),
    // A replica that drains is stopped when its last request has ended.
    control.load.onIdle((name, jobId) => {
      const replica = control.routes.find(name)?.replicas.find((each) => each.jobId === jobId);
      // With several gateways that is told once it is written down.
      if (replica?.state === "draining" && control.shared === undefined) control.wake();
    }),
  ];

  /** No timer runs while there is nothing to decide. */
  function schedule(): void {
    if (closed || cancelTimer !== undefined || !election.isCandidate) return;
    cancelTimer = control.clock.after(EVERY_MS, () => {
      cancelTimer = undefined;
      // What it knew is too old when it is the one again.
      if (!election.isElected) states.clear();
      const endpoints = control.routes.all().filter((each) => isServing(each) && mayScale(each));
      if (endpoints.length > 0 || control.shared !== undefined) schedule();
      for (const endpoint of endpoints) look(endpoint);
    });
  }

  function look(endpoint: Endpoint): void {
    const { name } = endpoint;
    // One decision at a time: however many wait, there is one wake.
    if (closed || !election.isElected || !isServing(endpoint) || writing.has(name)) return;
    const decision = decideNow(endpoint, states.get(name));
    states.set(name, decision.nextState);
    if (decision.desired === endpoint.desired) return;
    const write = apply(control, election, endpoint, decision)
      .catch((error: unknown) => {
        control.log.error("scaling was not written", { endpoint: name, error: String(error) });
      })
      .finally(() => {
        writing.delete(name);
        const after = control.routes.find(name);
        // Who came while it was being put to sleep is not made to wait for the next look.
        const isAsleep = decision.desired === 0 && after?.desired === 0;
        if (isAsleep && control.fleet.load(name).queued > 0) look(after);
      });
    writing.set(name, write);
  }

  /** One that comes up is not idle: whoever waits until it is ready has not asked yet. */
  function decideNow(endpoint: Endpoint, state: ScalerState | undefined): Decision {
    const now = control.clock.now();
    const scaling = scalingOf(endpoint.scaling);
    const isUp = endpoint.state === "ready";
    const settings = isUp ? scaling : { ...scaling, min: Math.max(1, scaling.min) };
    const { desired, name } = endpoint;
    const seen = decide(state, { desired, load: control.fleet.load(name) }, now, settings);
    // Where one of those who could tell is silent, nothing goes.
    const isBlind = seen.desired < desired && control.fleet.isUncertain;
    const held = isBlind ? decide(state, { desired, load: undefined }, now, settings) : seen;
    const decision = { ...held, nextState: seen.nextState };
    return isUp ? decision : { ...decision, nextState: { ...decision.nextState, watchedSinceMs: now } };
  }

  return {
    get isElected() {
      return election.isElected;
    },
    async start() {
      await control.routes.load();
      await election.start();
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
      await election.close();
    },
  };
}

function mayScale(endpoint: Endpoint): boolean {
  const { min, max } = scalingOf(endpoint.scaling);
  return min < max || endpoint.desired < min || endpoint.desired > max;
}

async function apply(
  control: Control,
  election: Election,
  { name, desired: from }: Endpoint,
  decision: Decision,
): Promise<void> {
  const { desired, reason } = decision;
  let isWritten = false;
  await changeEndpoint(control, name, (current) => {
    isWritten = false;
    if (current === undefined || !isServing(current.endpoint) || current.endpoint.desired !== from) return;
    if (!election.isElected) return;
    const load = control.fleet.load(name);
    if (desired === 0 && load.inFlight + load.queued > 0) return;
    isWritten = true;
    return { ...current, endpoint: { ...current.endpoint, desired } };
  });
  if (!isWritten) return;
  control.log.info("endpoint scaled", { endpoint: name, from, to: desired, reason });
  control.wake();
}
