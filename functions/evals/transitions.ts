import type { EvalState } from "../../sdk/schema/eval.ts";
import { nextState, type Table } from "../records/state-table.ts";

export type EvalChange = "begin" | "work" | "requeue" | "succeed" | "fail" | "cancel";

const ends = { succeed: "succeeded", fail: "failed", cancel: "cancelled" } as const;

/** from × change → to. A pair that is not here is a bug and throws. */
export const EVAL_TABLE: Table<EvalState, EvalChange> = {
  queued: { begin: "starting", fail: "failed", cancel: "cancelled" },
  starting: { work: "running", requeue: "queued", ...ends },
  running: { work: "running", requeue: "queued", ...ends },
  succeeded: {},
  failed: {},
  cancelled: {},
};

export function nextEvalState(from: EvalState, change: EvalChange): EvalState {
  return nextState("eval", EVAL_TABLE, from, change);
}

export function isTerminalEval(state: EvalState): boolean {
  return Object.keys(EVAL_TABLE[state]).length === 0;
}
