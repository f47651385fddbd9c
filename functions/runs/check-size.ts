import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { MAX_VALUE_BYTES } from "../ports/store.ts";

/** Room for what is added: the pinned model, and the version. */
const MAX_SPEC_BYTES = MAX_VALUE_BYTES - 10_000;

/** @throws SpotterError `invalid_input` for a spec that cannot be kept: its texts are too long, or too deep. */
export function checkSize(spec: RunSpec): void {
  const parts = Object.entries(spec).map(([key, value]) => ({ key, bytes: bytesOf(key, value) }));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes <= MAX_SPEC_BYTES) return;
  const largest = parts.reduce((most, part) => (part.bytes > most.bytes ? part : most));
  throw new SpotterError("invalid_input", `The run has ${bytes} bytes; at most ${MAX_SPEC_BYTES} are kept.`, {
    where: largest.key,
    hint: `Shorten ${largest.key}, which has ${largest.bytes} of them; long texts belong into the dataset's rows.`,
  });
}

function bytesOf(key: string, value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? "");
  } catch (cause) {
    throw new SpotterError("invalid_input", `${key} is nested too deep.`, {
      where: key,
      hint: "Give it a simpler value.",
      cause,
    });
  }
}
