import { SpotterError, type Failure } from "../../../sdk/schema/errors.ts";

/** `{ failure }` of an error that says what is wrong; nothing of one that nobody foresaw. */
export function failureOf(error: unknown): { failure?: Failure } {
  if (!SpotterError.is(error)) return {};
  const { code, message, hint } = error;
  return { failure: { code, message, ...(hint !== undefined && { hint }) } };
}
