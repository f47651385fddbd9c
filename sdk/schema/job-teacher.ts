import * as z from "zod/mini";
import { nonNegativeInt, positiveInt } from "./common.ts";

const tokenIds = z.array(nonNegativeInt).check(z.minLength(1));
const sequences = z.array(tokenIds).check(z.minLength(1), z.maxLength(256));

/** What a training container asks of its run's teacher. */
export const teacherQuestion = z.discriminatedUnion("kind", [
  /** The log-probability of each token of each sequence. */
  z.object({ kind: z.literal("score"), sequences }),
  /** The same of a text, with the tokens that the teacher reads it as. */
  z.object({ kind: z.literal("read"), text: z.string().check(z.minLength(1)) }),
  /** An answer to each prompt. */
  z.object({
    kind: z.literal("answer"),
    prompts: sequences,
    maxTokens: positiveInt,
    temperature: z.number(),
    topP: z.number(),
    topK: nonNegativeInt,
    seed: nonNegativeInt,
  }),
]);
export type TeacherQuestion = z.infer<typeof teacherQuestion>;

/** `POST /jobs/:id/teacher` */
export const jobTeacher = z.object({ attempt: nonNegativeInt, question: teacherQuestion });

/** Token ids and, as many, their log-probabilities; that of the first token of a text is 0. */
export const teacherTokens = z.object({
  ids: z.array(nonNegativeInt),
  logprobs: z.array(z.number()),
  /** Of an answer: whether the teacher ended it. */
  isEnded: z.optional(z.boolean()),
});
export type TeacherTokens = z.infer<typeof teacherTokens>;

/** `waiting`: the teacher is not up yet, or busy, and why; ask again. */
export const jobTeacherReply = z.union([
  z.object({ waiting: z.string() }),
  z.object({ sequences: z.array(teacherTokens) }),
]);
export type JobTeacherReply = z.infer<typeof jobTeacherReply>;
