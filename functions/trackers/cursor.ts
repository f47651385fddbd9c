import type { DocumentKey } from "../ports/store.ts";
import { NOTHING_TOLD, type Told } from "./rows.ts";
import type { Place } from "./tracker-sink.ts";

/** How far one tracker of a run was told. */
export interface TrackerCursor {
  v: 1;
  told: Told;
  /** Absent: it is to begin. */
  place?: Place;
  /** Told in a row without success. */
  tries: number;
  nextAtMs: number;
  done?: boolean;
}

export const NEW_CURSOR: TrackerCursor = { v: 1, told: NOTHING_TOLD, tries: 0, nextAtMs: 0 };

export function cursorPartition(runId: string): string {
  return `trackers/${runId}`;
}

export function cursorKey(runId: string, index: number): DocumentKey {
  return { partition: cursorPartition(runId), sort: String(index) };
}
