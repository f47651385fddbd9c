import * as z from "zod/mini";
import { positiveInt } from "./common.ts";

/** What a reward asks of a model, on its way out of the isolate. */
export const judgeAsk = z.strictObject({
  model: z.string().check(z.minLength(1), z.maxLength(300)),
  prompt: z.string().check(z.minLength(1), z.maxLength(500_000)),
  system: z.optional(z.string().check(z.maxLength(100_000))),
  schema: z.optional(z.record(z.string(), z.unknown())),
  maxTokens: z.optional(positiveInt),
  temperature: z.optional(z.number()),
  budget: z.optional(z.strictObject({ calls: z.optional(positiveInt), tokens: z.optional(positiveInt) })),
});
export type JudgeAsk = z.infer<typeof judgeAsk>;

/** What came of it: the model's answer, or why there is none. */
export type JudgeAnswer = { value: unknown } | { error: string };

/** Answers by the text of the question, as a row is given them when its reward is run again. */
export type JudgeAnswers = Record<string, JudgeAnswer>;
