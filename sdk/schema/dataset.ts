import * as z from "zod/mini";
import { positiveInt, sha256, timestampMs } from "./common.ts";
import { directUpload } from "./upload.ts";

/**
 * One training or evaluation row as stored (JSONL, one object a line). `prompt` is rendered already;
 * `completion` is the answer SFT learns. A row that is a `text`, learnt as it stands and whole, has an empty prompt.
 * The user's own columns stay in `row`.
 */
export const datasetRow = z.object({
  prompt: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  completion: z.optional(z.string()),
  text: z.optional(z.string()),
  /** False: the prompt's text goes to the model as it is, without the model's chat template. */
  chatTemplate: z.optional(z.boolean()),
  /** The task of an environment of the run: its `setup` writes the prompt, which is empty here. */
  environment: z.optional(z.string()),
  /** The tools that may be called; absent: all of the run. */
  tools: z.optional(z.array(z.string())),
  /** The rewards that judge; absent: all of the run. */
  rewards: z.optional(z.array(z.string())),
  row: z.record(z.string(), z.unknown()),
});
export type DatasetRow = z.infer<typeof datasetRow>;

/** Answer of `PUT /datasets/:sha256` (body: the JSONL) and `GET /datasets/:sha256`. */
export const datasetRecord = z.object({
  v: z.literal(1),
  sha256,
  name: z.optional(z.string()),
  rows: positiveInt,
  bytes: positiveInt,
  createdAtMs: timestampMs,
});
export type DatasetRecord = z.infer<typeof datasetRecord>;

/** Body of `POST /datasets/:sha256`: rows that will come, or that were sent to where its answer said. */
export const announceDataset = z.strictObject({
  bytes: positiveInt,
  name: z.optional(z.string().check(z.maxLength(200))),
});
export type AnnounceDataset = z.infer<typeof announceDataset>;
/** The record if the rows are there, else where to send them; neither: with `PUT /datasets/:sha256`. */
export const announceDatasetReply = z.object({
  dataset: z.optional(datasetRecord),
  upload: z.optional(directUpload),
});
export type AnnounceDatasetReply = z.infer<typeof announceDatasetReply>;
