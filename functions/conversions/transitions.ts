import type { ConversionState } from "../../sdk/schema/checkpoint.ts";
import { nextState, type Table } from "../records/state-table.ts";

export type ConversionChange = "begin" | "work" | "requeue" | "succeed" | "fail" | "cancel" | "again";

const ends = { succeed: "succeeded", fail: "failed", cancel: "cancelled" } as const;

/** from × change → to. A pair that is not here is a bug and throws. */
export const CONVERSION_TABLE: Table<ConversionState, ConversionChange> = {
  // Succeeds without an attempt where the same was kept meanwhile.
  queued: { begin: "starting", ...ends },
  starting: { work: "running", requeue: "queued", ...ends },
  running: { work: "running", requeue: "queued", ...ends },
  // Its checkpoint was damaged, and is saved again.
  succeeded: { again: "queued" },
  failed: { again: "queued" },
  cancelled: { again: "queued" },
};

export function nextConversionState(from: ConversionState, change: ConversionChange): ConversionState {
  return nextState("conversion", CONVERSION_TABLE, from, change);
}

export function hasEnded(state: ConversionState): boolean {
  return state === "succeeded" || state === "failed" || state === "cancelled";
}
