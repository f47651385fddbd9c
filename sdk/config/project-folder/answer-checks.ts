import { isObject, type Report, type RowContext } from "./row-context.ts";

const LATEX_COMMAND = /\\[A-Za-z]+/;
const DELIMITED = /\$|\\\(|\\\[/;

/** `metadata.expected_answer`, which most rewards compare with. */
export function answerChecks(row: Record<string, unknown>, context: RowContext, report: Report): void {
  const { metadata } = row;
  if (context.kind !== "rl") return;
  needs(row, context, report);
  if (!isObject(metadata)) return;
  const path = ["metadata", "expected_answer"];
  const answer = metadata.expected_answer;
  if (answer === null)
    report({
      code: "answer_missing",
      severity: "warning",
      path,
      message: "is null: no answer can equal it",
      hint: "Fill it in, or remove the row.",
    });
  if (!context.isMath || typeof answer !== "string") return;
  if (LATEX_COMMAND.test(answer) && !DELIMITED.test(answer))
    report({
      code: "answer_undelimited",
      severity: "warning",
      path,
      message: "is LaTeX without $...$ or \\(...\\): it is not read as mathematics",
      hint: `Write $${answer.length <= 60 ? answer : "..."}$.`,
    });
}

/** What the rewards of the row read of its metadata. */
function needs(row: Record<string, unknown>, context: RowContext, report: Report): void {
  if (!context.rewards || !Array.isArray(row.rewards)) return;
  for (const name of row.rewards as unknown[]) {
    for (const key of context.rewards.get(String(name))?.needs ?? []) {
      if (isObject(row.metadata) && Object.hasOwn(row.metadata, key)) continue;
      report({
        code: "metadata_missing",
        severity: "warning",
        path: ["metadata"],
        message: `has no "${key}", which the reward ${String(name)} reads: it raises, and gives no verdict`,
        hint: `Add "${key}", or read it with args.metadata.get("${key}").`,
      });
    }
  }
}
