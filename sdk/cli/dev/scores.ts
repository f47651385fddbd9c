import type { DevRow } from "../../schema/dev.ts";
import type { Verdict } from "../../schema/rollout.ts";
import type { Colors } from "../context.ts";
import { table } from "../render/table.ts";

const ANSWER_CHARACTERS = 40;

/** A line for each row with what every reward gave, then the means, then what went wrong with its place. */
export function scoreLines(
  rewards: readonly string[],
  rows: readonly DevRow[],
  verdicts: readonly Verdict[],
  colors: Colors,
): string[] {
  const header = ["ROW", "ANSWER", ...rewards, "TOTAL"];
  const body = verdicts.map((verdict, index) => [
    String(index + 1),
    shortened(rows[index]?.answer ?? ""),
    ...rewards.map((name) => cell(verdict, name, colors)),
    verdict.total === undefined ? colors.dim("none") : figure(verdict.total),
  ]);
  const means = [
    "mean",
    "",
    ...rewards.map((name) => mean(verdicts.flatMap(({ scores }) => scores[name]?.score ?? []))),
    mean(verdicts.flatMap(({ total }) => total ?? [])),
  ];
  return [...table(header, [...body, means]), ...errorLines(verdicts, colors)];
}

function cell({ scores, errors }: Verdict, name: string, { red }: Colors): string {
  const score = scores[name];
  return score ? figure(score.score) : red(errors[name]?.code.replace(/^reward_/, "") ?? "none");
}

/** Each cause once, with the rows it struck. */
function errorLines(verdicts: readonly Verdict[], { red }: Colors): string[] {
  const struck = new Map<string, number[]>();
  verdicts.forEach(({ errors }, index) => {
    for (const { code, message } of Object.values(errors)) {
      const key = `${message} [${code}]`;
      struck.set(key, [...(struck.get(key) ?? []), index + 1]);
    }
  });
  return [...struck].map(([text, rows]) => `${red("error")} row ${rows.join(", ")}: ${text}`);
}

function mean(values: readonly number[]): string {
  return values.length === 0 ? "none" : figure(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > ANSWER_CHARACTERS ? `${line.slice(0, ANSWER_CHARACTERS - 1)}…` : line;
}
