import type { Failure } from "./schema/errors.ts";

/** A stored failure as people read it: what happened, then the last lines of the log that do not say it again. */
export function failureText(failure: Failure | undefined): string {
  if (!failure) return "no reason was recorded.";
  const { code, message, logTail = [] } = failure;
  const last = logTail.at(-1);
  const lines = last !== undefined && isRepeated(last, failure) ? logTail.slice(0, -1) : logTail;
  return [`${message} [${code}]`, ...lines.map((line) => `  | ${line}`)].join("\n");
}

/** Containers end their log with the failure, in whole or as far as a line goes. */
function isRepeated(line: string, { code, message }: Failure): boolean {
  const heading = `error ${code}: `;
  if (line.startsWith(heading)) {
    const told = line.slice(heading.length).replace(/…$/, "");
    return told !== "" && message.startsWith(told);
  }
  return line === message.split("\n")[0];
}
