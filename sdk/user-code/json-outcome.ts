import type { IsolateOutcome } from "../schema/user-code.ts";
import { thrown } from "./thrown.ts";

/**
 * What user code returned, as JSON of at most so many characters. Serialised here, inside the isolate, where a
 * cycle or a BigInt costs one row and not the whole answer.
 */
export function jsonOutcome(code: string, value: unknown, maxCharacters: number): IsolateOutcome {
  let text: string;
  try {
    text = JSON.stringify(value ?? null) ?? "null";
  } catch (error) {
    return { error: { ...thrown(error, code), message: "it returned something that is not JSON" } };
  }
  if (text.length <= maxCharacters) return { value: JSON.parse(text) as unknown };
  const message = `it returned ${text.length} characters of JSON, more than the ${maxCharacters} that are allowed`;
  return { error: { code, message } };
}
