import type { Failure } from "./schema/errors.ts";

/** A stored failure as people read it: what happened, then the last lines of the log. */
export function failureText(failure: Failure | undefined): string {
  if (!failure) return "no reason was recorded.";
  const tail = failure.logTail?.length ? `\n${failure.logTail.map((line) => `  | ${line}`).join("\n")}` : "";
  return `${failure.message} [${failure.code}]${tail}`;
}
