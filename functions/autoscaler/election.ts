import type { Control } from "../control.ts";
import { every } from "../records/every.ts";
import { createLease } from "../records/lease.ts";
import { LOOK_EVERY_MS } from "./shared-fleet.ts";

/** Who of several processes decides for all. */
export interface Election {
  /** It has begun to ask for it. */
  readonly isCandidate: boolean;
  /** This process decides at this moment. */
  readonly isElected: boolean;
  start(): Promise<void>;
  /** Lets another one be elected at once. */
  close(): Promise<void>;
}

/** Without other processes it is this one. */
export function createElection(control: Control): Election {
  const { shared, store, clock, ids } = control;
  if (shared === undefined)
    return {
      isCandidate: true,
      isElected: true,
      start: async () => undefined,
      close: async () => undefined,
    };
  const key = { partition: "leases", sort: "autoscaler" };
  const lease = createLease({ store, clock, key, holder: ids.next() });
  let looking: { stop(): Promise<void> } | undefined;

  async function look(): Promise<void> {
    await lease.look();
    // Who decides, or is about to, must know the endpoints.
    await control.routes.load();
  }

  return {
    get isCandidate() {
      return looking !== undefined;
    },
    get isElected() {
      return looking !== undefined && lease.isHeld;
    },
    async start() {
      if (looking !== undefined) return;
      await control.fleet.follow();
      looking = every(control, LOOK_EVERY_MS, look);
      await look();
    },
    async close() {
      await looking?.stop();
      looking = undefined;
      await lease.release().catch(() => undefined);
    },
  };
}
