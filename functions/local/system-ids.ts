import { randomBytes } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Ids } from "../ports/clock.ts";

/** ULIDs that sort in the order they were made, and random secrets. */
export function systemIds(): Ids {
  const next = monotonicFactory();
  return {
    next: () => next(),
    secret: (bytes) => randomBytes(bytes).toString("hex"),
  };
}
