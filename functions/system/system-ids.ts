import { randomBytes, randomFillSync } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Ids } from "../ports/clock.ts";

/** Enough for 256 ids; asking the system for each of an id's 16 letters would cost more than all else of it. */
const POOL_BYTES = 4_096;

/** ULIDs that sort in the order they were made, and random secrets. */
export function systemIds(): Ids {
  const next = monotonicFactory(pooledRandom());
  return {
    next: () => next(),
    secret: (bytes) => randomBytes(bytes).toString("hex"),
  };
}

/** Fractions from 0 to below 1 in steps of 1/256, from the system's generator. No byte is used twice. */
function pooledRandom(): () => number {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    return (pool[used++] ?? 0) / 256;
  };
}
