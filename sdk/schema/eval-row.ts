import * as z from "zod/mini";
import { nonNegativeInt } from "./common.ts";
import { evalTemperature } from "./pass-at.ts";
import { chatMessage, verdict } from "./rollout.ts";

/** A conversation of an eval, and what was thought of it. */
export const evalRow = z.object({
  /** Index of the dataset row, and which of its samples this is. */
  row: nonNegativeInt,
  sample: nonNegativeInt,
  input: z.record(z.string(), z.unknown()),
  /** The last answer. */
  text: z.string(),
  /** The whole conversation. */
  messages: z.optional(z.array(chatMessage)),
  /** Answers of the model; absent: one. */
  turns: z.optional(nonNegativeInt),
  /** There was no room for another answer. */
  truncated: z.optional(z.boolean()),
  /** Answers of tools that were cut; absent: none. */
  cutAnswers: z.optional(nonNegativeInt),
  /** Where the eval samples at several. */
  temperature: z.optional(evalTemperature),
  /** Why it could not be played; then it has no verdict either. */
  failure: z.optional(z.object({ code: z.string(), message: z.string() })),
  finishReason: z.string(),
  tokens: nonNegativeInt,
  verdict,
});
export type EvalRow = z.infer<typeof evalRow>;
