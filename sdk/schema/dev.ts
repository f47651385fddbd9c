import type { DatasetRow } from "./dataset.ts";
import type { ErrorBody } from "./errors.ts";
import type { Verdict } from "./rollout.ts";

/** What `spotter dev` asks the process that runs rewards, over the channel between the two. */
export type DevRequest = { id: number } & (
  | {
      type: "load";
      code: Uint8Array;
      sha256: string;
      name: string;
      inspector?: { port: number; sourceFolder: string };
      grants?: DevGrants;
    }
  | { type: "judge"; rows: DevRow[]; timeoutMs: number }
);

/** Secrets that the code may read; their values stay in the process that runs it. */
export interface DevGrants {
  /** The state folder whose secrets they are. */
  home: string;
  names: string[];
}

export interface DevRow {
  row: DatasetRow;
  answer: string;
}

export type DevAnswer = { rewards: string[] } | { verdicts: Verdict[] };

export type DevMessage =
  | { type: "answer"; id: number; result: DevAnswer }
  | { type: "answer"; id: number; error: ErrorBody }
  | { type: "log"; level: string; text: string };
