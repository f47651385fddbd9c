import { expect } from "vitest";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import type { ErrorCode } from "../../../../sdk/schema/error-codes.ts";

/** Expects a coded error whose message or place names each of `parts`. */
export async function expectError(call: () => unknown, code: ErrorCode, ...parts: string[]): Promise<void> {
  let error: unknown;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  if (!SpotterError.is(error)) throw new Error(`Expected ${code}, got ${String(error)}`, { cause: error });
  expect(error.code).toBe(code);
  for (const part of parts) expect(`${error.message} ${error.where ?? ""}`).toContain(part);
}
