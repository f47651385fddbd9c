import { isolateOutcome, type IsolateOutcome } from "../../sdk/schema/user-code.ts";

/**
 * The outcomes in an isolate's answer, by export, then by row; text that says what is wrong with it otherwise.
 * User code may answer anything. Written by hand for values, the hot path: a schema costs more than the reward.
 */
export function outcomesOf(results: unknown, exports: number, rows: number): IsolateOutcome[][] | string {
  if (!Array.isArray(results)) return "no results";
  if (results.length !== exports) return `${results.length} lists of results for ${exports} exports`;
  const all: IsolateOutcome[][] = [];
  for (const list of results as unknown[]) {
    if (!Array.isArray(list)) return "no results";
    if (list.length !== rows) return `${list.length} results for ${rows} rows`;
    const outcomes: IsolateOutcome[] = [];
    for (const each of list as unknown[]) {
      const outcome = outcomeOf(each);
      if (!outcome) return "a result that is neither a value nor an error";
      outcomes.push(outcome);
    }
    all.push(outcomes);
  }
  return all;
}

function outcomeOf(each: unknown): IsolateOutcome | undefined {
  if (isRecord(each) && "value" in each && !("error" in each)) return { value: each["value"] };
  const parsed = isolateOutcome.safeParse(each);
  return parsed.success ? parsed.data : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
