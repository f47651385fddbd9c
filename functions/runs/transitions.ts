import type { RunState } from "../../sdk/schema/run.ts";
import { nextState, type Table } from "../records/state-table.ts";

export type RunChange =
  | "begin"
  | "wait"
  | "start"
  | "work"
  | "save"
  | "requeue"
  | "pause"
  | "resume"
  | "succeed"
  | "fail"
  | "cancel";

const ends = { succeed: "succeeded", fail: "failed", cancel: "cancelled" } as const;

/** from × change → to. A pair that is not here is a bug and throws. */
export const RUN_TABLE: Table<RunState, RunChange> = {
  // Waits for what has to be made before its first attempt.
  queued: { wait: "queued", begin: "provisioning", fail: "failed", cancel: "cancelled", pause: "paused" },
  provisioning: {
    wait: "provisioning",
    start: "starting",
    work: "running",
    save: "saving",
    requeue: "queued",
    pause: "paused",
    ...ends,
  },
  starting: {
    wait: "provisioning",
    start: "starting",
    work: "running",
    save: "saving",
    requeue: "queued",
    pause: "paused",
    ...ends,
  },
  running: { start: "running", work: "running", save: "saving", requeue: "queued", pause: "paused", ...ends },
  saving: { start: "saving", work: "running", save: "saving", requeue: "queued", pause: "paused", ...ends },
  paused: { resume: "queued", fail: "failed", cancel: "cancelled" },
  succeeded: {},
  failed: {},
  cancelled: {},
};

export function nextRunState(from: RunState, change: RunChange): RunState {
  return nextState("run", RUN_TABLE, from, change);
}

export function isTerminalRun(state: RunState): boolean {
  return Object.keys(RUN_TABLE[state]).length === 0;
}
