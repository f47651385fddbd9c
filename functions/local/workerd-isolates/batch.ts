import type { IsolateOutcome } from "../../../sdk/schema/user-code.ts";
import type { IsolateResult } from "../../ports/isolates.ts";
import { IsolateFailure } from "./failure.ts";
import type { Isolate } from "./isolate.ts";

/** Rows per call: enough that the call itself costs nothing, few enough to run again when one goes wrong. */
export const BATCH_ROWS = 64;

/** How long the isolate may be late with its own timeout before it counts as stuck. */
const GRACE_MS = 250;

export interface BatchOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Runs one export over any number of rows. One result a row, in order. */
export async function runRows(
  isolate: Isolate,
  exportName: string,
  rows: unknown[],
  options: BatchOptions,
): Promise<IsolateResult[]> {
  const results: IsolateResult[] = [];
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const outcomes = await runBatch(isolate, exportName, rows.slice(start, start + BATCH_ROWS), options);
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
async function runBatch(
  isolate: Isolate,
  exportName: string,
  rows: unknown[],
  options: BatchOptions,
): Promise<IsolateOutcome[]> {
  const wasFresh = isolate.isFresh;
  try {
    return await isolate.run(exportName, rows, {
      timeoutMs: options.timeoutMs,
      hostTimeoutMs: options.timeoutMs + GRACE_MS,
      signal: options.signal,
    });
  } catch (error) {
    if (!(error instanceof IsolateFailure)) throw error;
    if (rows.length === 1) {
      // Memory that earlier rows filled is not this row's fault: it gets one try of its own.
      if (error.code !== "timeout" && !wasFresh) return runBatch(isolate, exportName, rows, options);
      return [outcomeOf(isolate, exportName, error, options.timeoutMs)];
    }
    const size = error.code === "timeout" ? 1 : Math.ceil(rows.length / 8);
    const outcomes: IsolateOutcome[] = [];
    for (let start = 0; start < rows.length; start += size) {
      outcomes.push(...(await runBatch(isolate, exportName, rows.slice(start, start + size), options)));
    }
    return outcomes;
  }
}

function outcomeOf(
  isolate: Isolate,
  exportName: string,
  { code, message }: IsolateFailure,
  timeoutMs: number,
): IsolateOutcome {
  if (code !== "timeout") return { error: { code, message } };
  const kind = isolate.exports.find((each) => each.name === exportName)?.kind ?? "reward";
  return { error: { code: `${kind}_timeout`, message: `no answer within ${timeoutMs} ms` } };
}

function toResult(isolate: Isolate, outcome: IsolateOutcome): IsolateResult {
  if (!("error" in outcome)) return outcome;
  const { code, message, stack } = outcome.error;
  return { error: { code, ...isolate.explain(message, stack) } };
}
