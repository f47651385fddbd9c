import * as z from "zod/mini";
import { positiveInt } from "../common.ts";
import { plainRecord } from "./plain-record.ts";

const count = z.optional(positiveInt);
const share = z.optional(z.number().check(z.gt(0), z.lte(1)));
const flag = z.optional(z.boolean());
const text = z.optional(z.string());
const optionValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number()])),
]);

/**
 * Settings of vLLM by its own names, in camelCase: `maxModelLen` is `--max-model-len`. What is given wins over what is
 * known of the model. `flags` takes every other option of `vllm serve` by its name.
 */
export const vllmSettings = z.strictObject({
  tensorParallelSize: count,
  pipelineParallelSize: count,
  dataParallelSize: count,
  maxModelLen: count,
  gpuMemoryUtilization: share,
  maxNumSeqs: count,
  maxNumBatchedTokens: count,
  dtype: text,
  quantization: text,
  kvCacheDtype: text,
  enforceEager: flag,
  enablePrefixCaching: flag,
  trustRemoteCode: flag,
  toolCallParser: text,
  reasoningParser: text,
  /** Serve LoRA checkpoints of the model by name, `run@step`. Default true. */
  enableLora: flag,
  maxLoraRank: count,
  maxLoras: count,
  flags: z.optional(plainRecord(optionValue)),
});
export type VllmSettings = z.infer<typeof vllmSettings>;
