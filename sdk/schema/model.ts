import * as z from "zod/mini";

/**
 * Where a model comes from: `spotter/nano` (shipped), an absolute folder with config.json, safetensors and
 * tokenizer.json, or a hub name such as `Qwen/Qwen3-0.6B`.
 */
export const modelRef = z.strictObject({
  name: z.string().check(z.minLength(1)),
  /** Hub revision; a commit pins it. */
  revision: z.optional(z.string()),
});
export type ModelRef = z.infer<typeof modelRef>;

/** A checkpoint is named `run@step`. */
export const checkpointId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9._-]+@\d+$/, "a checkpoint is written run@step"));
