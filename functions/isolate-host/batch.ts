import { kindOfCall, type IsolateOutcome, type UserCodeExport } from "../../sdk/schema/user-code.ts";
import type { IsolateResult } from "../ports/isolates.ts";
import { IsolateFailure } from "./failure.ts";

/** Rows per call: enough that the call itself costs nothing, few enough to run again when one goes wrong. */
export const BATCH_ROWS = 64;

/**
 * Rows that may take the isolate down in one call before the rest is given up: where this many do, the code is
 * broken, and each further one may cost its whole time limit.
 */
const MAX_BAD_ROWS = 8;

/** How long the isolate may be late with its own timeout before it counts as stuck. */
const GRACE_MS = 250;

export interface BatchOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** What runs calls, and can be started anew between them. */
export interface Runner {
  readonly exports: readonly UserCodeExport[];
  /** Whether nothing has run since it was started. */
  readonly isFresh: boolean;
  /** Outcomes by export, then by row. Throws {@link IsolateFailure} when it was lost on the way. */
  run(
    exportNames: string[],
    rowsText: string,
    count: number,
    options: { timeoutMs: number; hostTimeoutMs: number; signal: AbortSignal | undefined },
  ): Promise<IsolateOutcome[][]>;
  /** Message with the user's own position, secrets blacked out. */
  explain(message: string, stack: string | undefined): { message: string; where?: string };
}

/** One export of a call, and how often it has taken the isolate down. */
interface Callee {
  name: string;
  badRows: number;
  lastCode?: string;
}

interface Call extends BatchOptions {
  runner: Runner;
}

/** Lends runners, one call at a time each. */
export interface Runners {
  use<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
}

/** Runs exports over any number of rows. Results by export, then by row, in order. */
export async function runRows(
  runners: Runners,
  exportNames: readonly string[],
  batches: readonly RowBatch[],
  options: BatchOptions,
): Promise<IsolateResult[][]> {
  const callees: Callee[] = exportNames.map((name) => ({ name, badRows: 0 }));
  const parts = batches.map((batch) =>
    runners.use(async (runner) => {
      const outcomes = await runExports({ runner, ...options }, callees, batch);
      return outcomes.map((list) => list.map((outcome) => toResult(runner, outcome)));
    }),
  );
  const done = await Promise.all(parts);
  return exportNames.map((_, index) => done.flatMap((part) => part[index] ?? []));
}

/** Rows of one call, as JSON already: that work is done while the isolate has another call. */
export interface RowBatch {
  rows: unknown[];
  text: string;
}

/** `maxBytes`: of a batch's text, where the way to the isolate has a limit; a row is never cut. */
export function batchesOf(rows: unknown[], maxBytes = Infinity): RowBatch[] {
  const batches: RowBatch[] = [];
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    batches.push(...fitting(batchOf(rows.slice(start, start + BATCH_ROWS)), maxBytes));
  }
  return batches;
}

function fitting(batch: RowBatch, maxBytes: number): RowBatch[] {
  const { rows, text } = batch;
  // A character is three bytes at most.
  if (rows.length === 1 || text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return [batch];
  const middle = Math.ceil(rows.length / 2);
  return [rows.slice(0, middle), rows.slice(middle)].flatMap((part) => fitting(batchOf(part), maxBytes));
}

function batchOf(rows: unknown[]): RowBatch {
  return { rows, text: JSON.stringify(rows) };
}

/** All exports in one call; where that does not come back, each by itself, so that the others stay unharmed. */
async function runExports(call: Call, callees: Callee[], batch: RowBatch): Promise<IsolateOutcome[][]> {
  if (callees.length > 1 && callees.every(({ badRows }) => badRows === 0)) {
    try {
      return await ask(call, callees, batch);
    } catch (error) {
      if (!(error instanceof IsolateFailure)) throw error;
    }
  }
  const all: IsolateOutcome[][] = [];
  for (const callee of callees) all.push(await runBatch(call, callee, batch));
  return all;
}

function ask(call: Call, callees: Callee[], { rows, text }: RowBatch): Promise<IsolateOutcome[][]> {
  const names = callees.map(({ name }) => name);
  const { timeoutMs, signal } = call;
  return call.runner.run(names, text, rows.length, {
    timeoutMs,
    hostTimeoutMs: timeoutMs + GRACE_MS,
    signal,
  });
}

/**
 * One call; where it takes the isolate down, the rows run again in smaller calls until the row that does it is
 * alone. A stuck call is split into single rows at once, because every further try with the bad row costs the
 * whole time limit; after a crash an eighth at a time keeps slow asynchronous rows side by side. A row may
 * therefore be run several times.
 */
async function runBatch(call: Call, callee: Callee, batch: RowBatch): Promise<IsolateOutcome[]> {
  const { rows } = batch;
  if (callee.badRows >= MAX_BAD_ROWS) return rows.map(() => givenUp(callee));
  const wasFresh = call.runner.isFresh;
  try {
    return (await ask(call, [callee], batch))[0] ?? [];
  } catch (error) {
    if (!(error instanceof IsolateFailure)) throw error;
    if (rows.length > 1) {
      return runInParts(call, callee, rows, error.code === "timeout" ? 1 : Math.ceil(rows.length / 8));
    }
    // Memory that earlier rows filled is not this row's fault: it gets one try of its own.
    if (error.code !== "timeout" && !wasFresh) return runBatch(call, callee, batch);
    callee.badRows += 1;
    callee.lastCode = codeOf(call, callee, error);
    const message = error.code === "timeout" ? `no answer within ${call.timeoutMs} ms` : error.message;
    return [{ error: { code: callee.lastCode, message } }];
  }
}

async function runInParts(
  call: Call,
  callee: Callee,
  rows: unknown[],
  size: number,
): Promise<IsolateOutcome[]> {
  const outcomes: IsolateOutcome[] = [];
  for (let start = 0; start < rows.length; start += size) {
    outcomes.push(...(await runBatch(call, callee, batchOf(rows.slice(start, start + size)))));
  }
  return outcomes;
}

function codeOf({ runner }: Call, { name }: Callee, { code }: IsolateFailure): string {
  const kind = kindOfCall(runner.exports, name) ?? "reward";
  return code === "timeout" ? `${kind}_timeout` : code;
}

function givenUp({ lastCode = "isolate_crashed", badRows }: Callee): IsolateOutcome {
  return {
    error: { code: lastCode, message: `not tried, because ${badRows} rows before it took the isolate down` },
  };
}

function toResult(runner: Runner, outcome: IsolateOutcome): IsolateResult {
  if (!("error" in outcome)) return outcome;
  const { code, message, stack } = outcome.error;
  return { error: { code, ...runner.explain(message, stack) } };
}
