import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, sha256, timestampMs } from "./common.ts";
import { directUpload } from "./upload.ts";

/**
 * Where a model comes from: `spotter/nano` (shipped), an absolute folder with config.json, safetensors and
 * tokenizer.json, the absolute path of a GGUF file, or the name of stored weights (`POST /models`) such as `Qwen/Qwen3-0.6B`.
 */
export const modelRef = z.strictObject({
  name: z.string().check(z.minLength(1)),
  /** Hub revision; of stored weights the SHA-256 of their manifest, pinned at launch. */
  revision: z.optional(z.string()),
});
export type ModelRef = z.infer<typeof modelRef>;

/** Models that come with the package. */
export const SHIPPED_MODELS = ["spotter/nano"] as const;

/** A checkpoint is named `run@step`. */
export const checkpointId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9._-]+@\d+$/, "a checkpoint is written run@step"));

/** Name of stored weights: one word, or two as on the hub. */
export const modelName = z
  .string()
  .check(
    z.maxLength(128),
    z.regex(
      /^(?!spotter\/)[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/,
      "use letters, digits, dots, dashes and underscores, with at most one slash; spotter/ is taken",
    ),
  );

const MODEL_FILE =
  /^(config\.json|generation_config\.json|(tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|merges\.txt|vocab\.txt|tokenizer\.model|chat_template\.(jinja|json)|[\w.-]+\.safetensors|[\w.-]+\.safetensors\.index\.json|[\w.-]+\.(gguf|GGUF))$/;

/** Whether a file is weights, tokenizer or config: the only ones that are stored. Code never is. */
export function isModelFile(path: string): boolean {
  return MODEL_FILE.test(path);
}

export const modelFile = z.strictObject({
  path: z.string().check(
    z.refine((path) => isModelFile(path), {
      message: "is no safetensors, GGUF, tokenizer or config file",
    }),
  ),
  size: nonNegativeInt,
  sha256,
});
export type ModelFile = z.infer<typeof modelFile>;

/** Where weights were fetched. */
export const modelSource = z.strictObject({ repo: z.string(), commit: z.string() });

/** Body of `POST /models`. Repeat it when every file that the answer misses was uploaded. */
export const pushModel = z.strictObject({
  name: modelName,
  files: z.array(modelFile).check(z.minLength(1), z.maxLength(500)),
  source: z.optional(modelSource),
  /** Let the name mean these weights from now on. What was launched before keeps its own. */
  replace: z._default(z.boolean(), false),
});
export type PushModel = z.infer<typeof pushModel>;

/** Stored weights. `sha256` is of the manifest: the lines `path size sha256`, sorted by path. */
export const modelRecord = z.object({
  v: z.literal(1),
  name: modelName,
  sha256,
  files: z.array(modelFile),
  bytes: positiveInt,
  source: z.optional(modelSource),
  createdAtMs: timestampMs,
});
export type ModelRecord = z.infer<typeof modelRecord>;

/** What `DELETE /models/:name` did. */
export const deletedModel = z.object({
  name: z.string(),
  sha256,
  /** Freed. */
  bytes: nonNegativeInt,
  /** Why the weights are still there. */
  keptFor: z.optional(z.string()),
});
export type DeletedModel = z.infer<typeof deletedModel>;

/**
 * `PUT /models/:sha256/files/:path` for each of `missing`, or straight to where `uploads` says by path; `model` is
 * there once none is.
 */
export const pushModelReply = z.object({
  sha256,
  missing: z.array(z.string()),
  uploads: z.optional(z.record(z.string(), directUpload)),
  model: z.optional(modelRecord),
});
export type PushModelReply = z.infer<typeof pushModelReply>;
