import type { IsolateOutcome } from "../../../sdk/schema/user-code.ts";
import type { IsolateResult } from "../../ports/isolates.ts";
import { IsolateFailure } from "./failure.ts";
import type { Isolate } from "./isolate.ts";

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

interface Call extends BatchOptions {
  isolate: Isolate;
  exportName: string;
  badRows: number;
  lastCode?: string;
}

/** Runs one export over any number of rows. One result a row, in order. */
export async function runRows(
  isolate: Isolate,
  exportName: string,
  rows: unknown[],
  options: BatchOptions,
): Promise<IsolateResult[]> {
  const results: IsolateResult[] = [];
  const call: Call = { isolate, exportName, ...options, badRows: 0 };
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const outcomes = await runBatch(call, rows.slice(start, start + BATCH_ROWS));
    for (const outcome of outcomes) results.push(toResult(isolate, outcome));
  }
  return results;
}

/**
 * One call; where it takes the isolate down, the rows run again in smaller calls until the row that does it is
 * alone. A stuck call is split into single rows at once, because every further try with the bad row costs the
 * whole time limit; after a crash an eighth at a time keeps slow asynchronous rows side by side. A row may
 * therefore be run several times.
 */
async function runBatch(call: Call, rows: unknown[]): Promise<IsolateOutcome[]> {
  if (call.badRows >= MAX_BAD_ROWS) return rows.map(() => givenUp(call));
  const wasFresh = call.isolate.isFresh;
  try {
    return await call.isolate.run(call.exportName, rows, {
      timeoutMs: call.timeoutMs,
      hostTimeoutMs: call.timeoutMs + GRACE_MS,
      signal: call.signal,
    });
  } catch (error) {
    if (!(error instanceof IsolateFailure)) throw error;
    if (rows.length > 1)
      return runInParts(call, rows, error.code === "timeout" ? 1 : Math.ceil(rows.length / 8));
    // Memory that earlier rows filled is not this row's fault: it gets one try of its own.
    if (error.code !== "timeout" && !wasFresh) return runBatch(call, rows);
    call.badRows += 1;
    call.lastCode = codeOf(call, error);
    const message = error.code === "timeout" ? `no answer within ${call.timeoutMs} ms` : error.message;
    return [{ error: { code: call.lastCode, message } }];
  }
}

async function runInParts(call: Call, rows: unknown[], size: number): Promise<IsolateOutcome[]> {
  const outcomes: IsolateOutcome[] = [];
  for (let start = 0; start < rows.length; start += size) {
    outcomes.push(...(await runBatch(call, rows.slice(start, start + size))));
  }
  return outcomes;
}

function codeOf({ isolate, exportName }: Call, { code }: IsolateFailure): string {
  const kind = isolate.exports.find((each) => each.name === exportName)?.kind ?? "reward";
  return code === "timeout" ? `${kind}_timeout` : code;
}

function givenUp({ lastCode = "isolate_crashed", badRows }: Call): IsolateOutcome {
  return {
    error: { code: lastCode, message: `not tried, because ${badRows} rows before it took the isolate down` },
  };
}

function toResult(isolate: Isolate, outcome: IsolateOutcome): IsolateResult {
  if (!("error" in outcome)) return outcome;
  const { code, message, stack } = outcome.error;
  return { error: { code, ...isolate.explain(message, stack) } };
}
