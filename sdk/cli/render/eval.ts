import type { EvalRecord, Interval } from "../../schema/eval.ts";
import type { Compared, EvalComparison } from "../../schema/eval-comparison.ts";
import { passLabel } from "../../schema/pass-at.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { pairs } from "./table.ts";

/** An eval and its scores. */
export function showEval(context: CliContext, record: EvalRecord, isJson: boolean | undefined): void {
  if (isJson) return printJson(context, record);
  const { passes, scores, failed, missing } = record;
  const lines = pairs({
    id: record.id,
    name: record.name,
    state: record.state,
    endpoint: record.spec.endpoint,
    done: `${record.done}/${record.total}`,
    missing: failed > 0 ? `${missing} (${failed} could not be played)` : missing,
    score: record.score && intervalText(record.score),
    ...entries(scores, (name) => `  ${name}`, intervalText),
    ...entries(passes, (k) => passLabel(k, record.spec.passAt), intervalText),
    failure: record.failure?.message,
  });
  for (const line of lines) print(context, line);
}

/** Two evals on the same rows, and how sure it is that they differ. */
export function showComparison(
  context: CliContext,
  comparison: EvalComparison,
  isJson: boolean | undefined,
): void {
  if (isJson) return printJson(context, comparison);
  const { first, second, score, scores, passes, rows, better, worse, same, notes } = comparison;
  const header = ["", first, second, "DIFFERENCE"];
  const table = [
    rowOf("score", score),
    ...Object.entries(scores).map(([name, each]) => rowOf(`  ${name}`, each)),
    ...Object.entries(passes).map(([k, each]) => rowOf(`pass@${k}`, each)),
  ];
  printList(context, header, table, "");
  print(context, `${rows} rows that both judged: ${better} better, ${worse} worse, ${same} the same.`);
  print(context, verdictOn(score.difference, second));
  for (const note of notes) print(context, `Note: ${note}`);
}

function rowOf(name: string, { first, second, difference }: Compared): string[] {
  const { mean, low, high } = difference;
  return [name, first.toFixed(3), second.toFixed(3), `${signed(mean)} [${signed(low)}, ${signed(high)}]`];
}

function verdictOn({ low, high }: Interval, second: string): string {
  if (low > 0) return `${second} is better: the 95 % interval of the difference lies above 0.`;
  if (high < 0) return `${second} is worse: the 95 % interval of the difference lies below 0.`;
  return "Neither is surely better: the 95 % interval of the difference holds 0.";
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
}

function entries(
  of: Record<string, Interval>,
  keyOf: (name: string) => string,
  textOf: (value: Interval) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [keyOf(name), textOf(value)]));
}

export function intervalText({ mean, low, high, n }: Interval): string {
  return `${mean.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] n=${n}`;
}
