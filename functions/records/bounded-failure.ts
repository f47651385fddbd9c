import type { Failure } from "../../sdk/schema/errors.ts";

const MAX_LINES = 200;
const MAX_LINE = 500;
const MAX_TEXT = 4_000;

/**
 * A failure that fits into any record: the last lines, each cut at the end. Containers report what they like,
 * and a record that is too large for the Store could never be ended.
 */
export function boundedFailure(failure: Failure): Failure {
  return {
    code: cut(failure.code, 100),
    message: cut(failure.message, MAX_TEXT),
    ...(failure.hint !== undefined && { hint: cut(failure.hint, MAX_TEXT) }),
    ...(failure.logTail && { logTail: failure.logTail.slice(-MAX_LINES).map((line) => cut(line, MAX_LINE)) }),
  };
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
