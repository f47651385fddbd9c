import * as z from "zod/mini";
import { countUpTo } from "./common.ts";
import { MAX_SEQUENCES } from "./trainer-spec.ts";

/** Learn what is written: answers to prompts, or whole texts. */
export const sftAlgorithm = z.strictObject({
  kind: z.literal("sft"),
  batchSize: z._default(countUpTo(MAX_SEQUENCES), 16),
  /** Rows of `text`: a step's are put end to end and cut to so many tokens. Absent: 1024, or what the model takes. */
  contextTokens: z.optional(countUpTo(131_072)),
});
export type SftAlgorithm = z.infer<typeof sftAlgorithm>;
