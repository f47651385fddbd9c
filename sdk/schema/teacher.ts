import * as z from "zod/mini";
import { nonNegativeInt, positiveInt } from "./common.ts";
import { hardware } from "./hardware.ts";
import { checkpointId, modelRef } from "./model.ts";

/** A teacher outside: any server of OpenAI's `/v1/completions` that gives log-probabilities of the prompt. */
const outsideTeacher = z.strictObject({
  /** Up to and including `/v1`. */
  baseUrl: z
    .string()
    .check(
      z.maxLength(2_000),
      z.regex(/^https?:\/\/[^/@\s]+(\/\S*)?$/, "must be an http or https URL without a user"),
    ),
  model: z.string().check(z.minLength(1)),
  /** Name of a stored secret: its key. */
  secret: z.optional(z.string()),
});

/** Who grades, or writes, what a student learns. Exactly one of `model`, `checkpoint`, `endpoint` and `url`. */
export const teacherSpec = z
  .strictObject({
    /** Served for the run and no longer, unless an endpoint serves it already. */
    model: z.optional(modelRef),
    /** As `model`. */
    checkpoint: z.optional(checkpointId),
    /** What serves a `model` or `checkpoint`, where there is a choice. Absent: processors. */
    hardware: z.optional(hardware),
    /** An endpoint of this home, or any other name that chat takes: an alias, `run@step`. */
    endpoint: z.optional(z.string().check(z.minLength(1))),
    url: z.optional(outsideTeacher),
    /** The student calls tools, over several turns. */
    agentic: z._default(z.boolean(), false),
  })
  .check(
    z.refine(
      ({ model, checkpoint, endpoint, url }) =>
        [model, checkpoint, endpoint, url].filter((each) => each !== undefined).length === 1,
      "must be exactly one of model, checkpoint, endpoint and url",
    ),
  );
export type TeacherSpec = z.infer<typeof teacherSpec>;

/**
 * On-policy distillation: the student answers, the teacher grades each token, and a token is learnt as much as the
 * teacher holds it for likelier than the student did. The advantage of a token is
 * `klCoef * (log p_teacher - log p_student)`, of this token alone: a one-sample estimate of the gradient of the reverse
 * KL divergence (arXiv:2306.13649; https://thinkingmachines.ai/blog/on-policy-distillation). Off-policy distillation:
 * the teacher answers, and the student learns its answers as SFT does (arXiv:1606.07947).
 */
export const distillAlgorithm = z.strictObject({
  kind: z.literal("distill"),
  /** Who writes the answers that are learnt: the student, or the teacher. */
  answers: z._default(z.enum(["student", "teacher"]), "student"),
  /** Weight of the teacher's grades. */
  klCoef: z._default(z.number().check(z.gt(0), z.lte(1_000)), 1),
  /** Bounds of the ratio to the policy that sampled; without them ratios are taken as they are. */
  clipLow: z.optional(z.number().check(z.gt(0), z.lt(1))),
  clipHigh: z.optional(z.number().check(z.gt(0))),
});
export type DistillAlgorithm = z.infer<typeof distillAlgorithm>;

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
