import * as z from "zod/mini";
import { nonNegativeInt, sha256, timestampMs } from "./common.ts";
import { failure } from "./errors.ts";
import { checkpointId, modelRef } from "./model.ts";

export const checkpointFile = z.strictObject({
  /** Relative, forward slashes; `model/...` can be served, `trainer/...` is the optimizer state. */
  path: z.string().check(z.regex(/^(?!.*\.\.)[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/)),
  size: nonNegativeInt,
  sha256,
});
export type CheckpointFile = z.infer<typeof checkpointFile>;

/** Full weights, or a LoRA adapter on top of `model`. */
export const checkpointKind = z.enum(["full", "lora"]);

/** How weights that are made of a checkpoint's state stand. */
export const conversionState = z.enum(["queued", "starting", "running", "succeeded", "failed", "cancelled"]);
export type ConversionState = z.infer<typeof conversionState>;

/** Written last, when every file is stored and hashes right: what has no manifest does not exist. */
export const checkpoint = z.object({
  v: z.literal(1),
  id: checkpointId,
  runId: z.string(),
  step: nonNegativeInt,
  /** The attempt that wrote it. */
  attempt: nonNegativeInt,
  kind: checkpointKind,
  model: modelRef,
  files: z.array(checkpointFile),
  createdAtMs: timestampMs,
  /** Where the files lie: a folder on one machine, an s3:// prefix on AWS. */
  path: z.string(),
  metrics: z.optional(z.record(z.string(), z.number())),
  /** Of one without files below `model/`: how far they are, or why there are none. */
  conversion: z.optional(z.object({ state: conversionState, failure: z.optional(failure) })),
  /** Kept whatever the retention of its run says. */
  pinned: z.optional(z.boolean()),
});
export type Checkpoint = z.infer<typeof checkpoint>;

/** Answer of `POST /checkpoints/:id/verify`. */
export const checkpointVerdict = z.object({ ok: z.boolean(), damage: z.optional(z.string()) });
