import type { Clock } from "../ports/clock.ts";
import type { Document, DocumentKey, Store } from "../ports/store.ts";
import { isConflict } from "./conflict.ts";

interface LeaseDocument {
  v: 1;
  /** {@link NOBODY}: it was given up. The document stays, so that its versions never come again. */
  holder: string;
}

const NOBODY = "";

/**
 * One of several processes has it at a time. Clocks are never compared: whoever wants it watches the record, and
 * takes it when nobody has renewed it for so long.
 */
export interface Lease {
  /** Whether this process may act at this moment. Ends by itself when renewals do not get through. */
  readonly isHeld: boolean;
  /** Takes, renews or watches it: to be called about once a second. Never rejects for what others do. */
  look(): Promise<void>;
  /** Gives it up, so that the next one need not wait. */
  release(): Promise<void>;
}

export interface LeaseParams {
  store: Store;
  clock: Pick<Clock, "now">;
  key: DocumentKey;
  holder: string;
}

// Time is measured twice, by the clock and by looks, as a clock may jump.
const RENEW_AFTER_LOOKS = 2;
/** Who holds it stops acting this long after its last renewal began ... */
const VALID_MS = 5_000;
const VALID_LOOKS = 4;
/** ... well before anybody else takes it, by as long as they have watched. */
const TAKE_AFTER_MS = 7_000;
const TAKE_AFTER_LOOKS = 6;

export function createLease({ store, clock, key, holder }: LeaseParams): Lease {
  let version: number | undefined;
  let renewedAtMs = -Infinity;
  let looks = 0;
  let watched: { version: number; sinceMs: number; looks: number } | undefined;

  function isHeld(): boolean {
    const sinceMs = clock.now() - renewedAtMs;
    return version !== undefined && sinceMs >= 0 && sinceMs < VALID_MS && looks <= VALID_LOOKS;
  }

  async function put(ifVersion: number): Promise<void> {
    const beganAtMs = clock.now();
    try {
      const value: LeaseDocument = { v: 1, holder };
      version = await store.put(key, value, { ifVersion });
      renewedAtMs = beganAtMs;
      looks = 0;
    } catch (error) {
      if (!isConflict(error)) throw error;
      version = undefined;
    }
  }

  /** A jump of this process' clock alone is no proof that the other one is gone. */
  function mayTake(current: Document<LeaseDocument>): boolean {
    // Nobody's, or its own from a write whose answer was lost.
    if (current.value.holder === holder || current.value.holder === NOBODY) return true;
    const nowMs = clock.now();
    if (watched?.version !== current.version)
      watched = { version: current.version, sinceMs: nowMs, looks: 0 };
    else watched.looks++;
    return nowMs - watched.sinceMs >= TAKE_AFTER_MS && watched.looks >= TAKE_AFTER_LOOKS;
  }

  return {
    get isHeld() {
      return isHeld();
    },
    async look() {
      if (version !== undefined) {
        looks++;
        if (isHeld() && looks < RENEW_AFTER_LOOKS) return;
        await put(version);
        if (version !== undefined) return;
      }
      const current = await store.get<LeaseDocument>(key);
      if (current === undefined) await put(0);
      else if (mayTake(current)) await put(current.version);
      if (version !== undefined) watched = undefined;
    },
    async release() {
      const mine = version;
      version = undefined;
      if (mine === undefined) return;
      try {
        const value: LeaseDocument = { v: 1, holder: NOBODY };
        await store.put(key, value, { ifVersion: mine });
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    },
  };
}
