import type { Finding } from "../../config/project-folder/finding.ts";
import type { CliContext, Colors } from "../context.ts";
import { measuredText } from "./time.ts";
import { oneLine } from "./visible.ts";

/** Of one kind in one file, so many are shown; `--json` has all. */
const SHOWN_OF_A_KIND = 5;

type Shown = Pick<Finding, "severity" | "file" | "line" | "column" | "path" | "message" | "hint"> & {
  code: string;
};

/** Two lines for each finding: where and what, then how to mend it. Many of one kind are cut short. */
export function findingLines(
  findings: readonly Shown[],
  { colors: { red, yellow, bold, dim }, hint }: Pick<CliContext, "colors" | "hint">,
): string[] {
  const kinds = new Map<string, number>();
  const left = new Map<string, number>();
  const lines: string[] = [];
  for (const each of findings) {
    const kind = `${each.file}: ${each.severity} ${each.code}`;
    const count = (kinds.get(kind) ?? 0) + 1;
    kinds.set(kind, count);
    if (count > SHOWN_OF_A_KIND) {
      left.set(kind, (left.get(kind) ?? 0) + 1);
      continue;
    }
    const severity = each.severity === "error" ? red("error") : yellow("warning");
    const what = [each.path && bold(oneLine(each.path)), oneLine(each.message)].filter(Boolean).join(" ");
    lines.push(
      `${placeText(each)} ${severity} ${what} ${dim(`[${each.code}]`)}`,
      `    ${hint(oneLine(each.hint))}`,
    );
  }
  for (const [kind, count] of left) lines.push(dim(`${kind}: ${count} more, see --json`));
  return lines;
}

/** The last line: how it went, and how long it took. */
export function verdictLine(
  findings: readonly Shown[],
  tookMs: number | undefined,
  { red, yellow, green, dim }: Colors,
): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  const counts = [
    ...(errors > 0 ? [red(counted(errors, "error"))] : []),
    ...(warnings > 0 ? [yellow(counted(warnings, "warning"))] : []),
  ];
  const took = tookMs === undefined ? "" : ` ${dim(`(${measuredText(tookMs)})`)}`;
  const verdict = errors > 0 ? red("Not valid") : green("Valid");
  return `${verdict}${counts.length > 0 ? `: ${counts.join(", ")}` : ""}${took}`;
}

export function placeText({ file, line, column }: Pick<Shown, "file" | "line" | "column">): string {
  const name = oneLine(file);
  return line === null ? name : `${name}:${line}${column === null ? "" : `:${column}`}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
