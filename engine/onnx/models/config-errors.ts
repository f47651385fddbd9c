import type * as z from "zod/mini";
import { describeIssue } from "../../../sdk/schema/describe-issue.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/** `model_unsupported`: `key` of config.json asks for what this engine does not compute. */
export function unsupported(file: string, key: string, what: string): SpotterError {
  return new SpotterError("model_unsupported", `The embedded engine cannot run this model: ${key} ${what}.`, {
    where: `${file}: ${key}`,
    hint: "Use a Llama, SmolLM2, Qwen2, Qwen2.5 or Qwen3 model, or a GPU engine for this one.",
  });
}

/** `model_corrupt`: config.json is no configuration of any model. */
export function corrupt(file: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("model_corrupt", `${file}: ${what}.`, {
    where: file,
    hint: "Download the model again.",
    cause,
  });
}

/** As {@link corrupt}, with all that a schema found; `under` is the key that the schema reads. */
export function corruptKeys(file: string, error: z.core.$ZodError, under = ""): SpotterError {
  const prefix = under === "" ? "" : `${under}.`;
  const findings = error.issues
    .flatMap((issue) => describeIssue(issue, () => []))
    .map(({ path, message }) => `${path ? `${prefix}${path}` : under || "(top level)"}: ${message}`);
  return corrupt(file, findings.join("; "));
}
