import * as z from "zod/mini";

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
