import * as z from "zod/mini";
import { countUpTo } from "./common.ts";
import { MAX_SEQUENCES } from "./trainer-spec.ts";

export const learnRole = z.enum(["system", "user", "assistant", "tool"]);
export type LearnRole = z.infer<typeof learnRole>;

/** Learn what is written: answers to prompts, whole conversations by role, or texts. */
export const sftAlgorithm = z.strictObject({
  kind: z.literal("sft"),
  batchSize: z._default(countUpTo(MAX_SEQUENCES), 16),
  /** Rows of `text`: a step's are put end to end and cut to so many tokens. Absent: 1024, or what the model takes. */
  contextTokens: z.optional(countUpTo(131_072)),
  /** Whose messages are learnt, prompts included. Absent: the completion alone. */
  learnRoles: z.optional(z.array(learnRole).check(z.minLength(1))),
  /**
   * Sequences of a step share rows of up to so many tokens, blind to each other: less is padded where lengths differ,
   * and nothing else changes. Absent: each has a row of its own, beside others of like length.
   */
  packTokens: z.optional(countUpTo(131_072)),
});
export type SftAlgorithm = z.infer<typeof sftAlgorithm>;

/** Whether SFT would learn anything of a row. */
export function isLearnable(
  row: { completion?: string | undefined; text?: string | undefined; prompt: readonly { role: string }[] },
  { learnRoles = [] }: Pick<SftAlgorithm, "learnRoles">,
): boolean {
  if (row.text !== undefined) return true;
  if (learnRoles.length === 0) return row.completion !== undefined;
  const roles = [
    ...row.prompt.map(({ role }) => role),
    ...(row.completion === undefined ? [] : ["assistant"]),
  ];
  return roles.some((role) => learnRoles.some((learnt) => learnt === role));
}
