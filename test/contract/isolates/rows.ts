import type { IsolateResult } from "../../../functions/ports/isolates.ts";

/** Rows as rewards get them. `bad` names the indexes whose row is to misbehave. */
export function rows(count: number, bad: number[] = [], more: Record<string, unknown> = {}): unknown[] {
  return Array.from({ length: count }, (_, x) => ({
    row: { x, bad: bad.includes(x), ...more },
    metadata: {},
    variables: {},
    response: { content: "", reasoning: "", toolCalls: [] },
    completion: { tokens: 0, finishReason: "stop" },
    messages: [],
  }));
}

/** Codes of the rows that have no value, by index. */
export function errorsOf(results: IsolateResult[]): Record<number, string> {
  return Object.fromEntries(
    results.flatMap((result, index) => ("error" in result ? [[index, result.error.code]] : [])),
  );
}

export function valuesOf(results: IsolateResult[]): unknown[] {
  return results.map((result) => ("value" in result ? result.value : undefined));
}

/** What the first row gave, as far as a reward that returns an object says. */
export function firstOf(results: IsolateResult[]): { score: number; reason?: string } {
  const [first] = results;
  if (!first || !("value" in first)) throw new Error(`No value: ${JSON.stringify(first)}`);
  return first.value as { score: number; reason?: string };
}
