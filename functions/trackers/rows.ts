import type { RunEvent } from "../../sdk/schema/event.ts";

/** Metrics of one step, told at one time. */
export interface Row {
  step: number;
  atMs: number;
  metrics: Record<string, number>;
}

/** How far the metrics of a run were told. */
export interface Told {
  /** Of the event stream. */
  seq: number;
  /** Rows so far: the number of the next. */
  rows: number;
  /** The last value of each metric, with its step. */
  last: Record<string, [step: number, value: number]>;
}

export const NOTHING_TOLD: Told = { seq: 0, rows: 0, last: {} };

/** Bounds what is remembered of a run, which is one item of the store, where user code makes up names. */
const MAX_METRICS = 1_000;
const MAX_BYTES = 128 * 1024;
/** What a step and a value take at most. */
const FIGURES_BYTES = 48;

/**
 * The rows that events after `told` make, and how far they lead. Row n of a run is the same whatever the pages that
 * its events were read in, so that one can be told twice and count once.
 *
 * An attempt that begins again behind a checkpoint reports some steps again: what was told of a step stays.
 *
 * @param merges Reports of one step make one row. The last one is held back then until the next step, or the end.
 */
export function rowsOf(
  told: Told,
  events: readonly RunEvent[],
  { merges, isEnded }: { merges: boolean; isEnded: boolean },
): { rows: Row[]; told: Told } {
  const rows: Row[] = [];
  const last = { ...told.last };
  let { seq } = told;
  let open: { row: Row; from: number; before: Told["last"] } | undefined;
  for (const event of events) {
    const row = freshRow(event, last);
    if (row !== undefined && open?.row.step === row.step) Object.assign(open.row.metrics, row.metrics);
    else if (row !== undefined) {
      rows.push(row);
      open = merges ? { row, from: seq, before: { ...last } } : undefined;
    }
    for (const [name, value] of Object.entries(row?.metrics ?? {})) last[name] = [row?.step ?? 0, value];
    seq = event.seq;
  }
  if (open === undefined || isEnded) return { rows, told: { seq, rows: told.rows + rows.length, last } };
  rows.pop();
  return { rows, told: { seq: open.from, rows: told.rows + rows.length, last: open.before } };
}

function freshRow({ atMs, body }: RunEvent, last: Told["last"]): Row | undefined {
  if (body.type !== "metrics") return undefined;
  const known = Object.keys(last);
  let names = known.length;
  let bytes = known.reduce((sum, name) => sum + bytesOf(name), 0);
  const fresh = Object.entries(body.metrics).filter(([name]) => {
    // A name may be that of a method of every object.
    const before = Object.hasOwn(last, name) ? last[name] : undefined;
    if (before !== undefined) return body.step > before[0];
    if (names >= MAX_METRICS || bytes + bytesOf(name) > MAX_BYTES) return false;
    names++;
    bytes += bytesOf(name);
    return true;
  });
  if (fresh.length === 0) return undefined;
  return { step: body.step, atMs, metrics: Object.fromEntries(fresh) };
}

function bytesOf(name: string): number {
  return Buffer.byteLength(JSON.stringify(name)) + FIGURES_BYTES;
}
