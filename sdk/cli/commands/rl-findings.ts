import type { Finding } from "../../config/prime-rl/types.ts";
import { type CliContext, print } from "../context.ts";
import { printable } from "../render/visible.ts";

/** Each finding on two lines: where and what, then how to mend it. On standard error, for people. */
export function printFindings(context: CliContext, findings: readonly Finding[]): void {
  const { red, yellow, dim } = context.colors;
  for (const { severity, file, line, column, message, hint, code } of findings) {
    const place = file === null ? "" : `${[file, line, column].filter((part) => part !== null).join(":")} `;
    const kind = severity === "error" ? red("error") : yellow("warning");
    context.err.write(`${printable(place)}${kind} ${printable(message)} ${dim(`[${code}]`)}\n`);
    if (hint) context.err.write(`    ${context.hint(printable(hint))}\n`);
  }
}

/** How many errors and warnings there are, in words. */
export function countText(findings: readonly Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = [counted(errors, "error"), counted(findings.length - errors, "warning")];
  return counts.filter((text) => !text.startsWith("0 ")).join(", ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function printVerdict(context: CliContext, findings: readonly Finding[]): void {
  const { red, green } = context.colors;
  const isBad = findings.some(({ severity }) => severity === "error");
  const counts = countText(findings);
  print(context, `${isBad ? red("Not valid") : green("Valid")}${counts && `: ${counts}`}`);
}
