import * as z from "zod/mini";
import { countUpTo, nonNegativeInt } from "./common.ts";
import { criticSpec } from "./critic.ts";

const share = z.number().check(z.gte(0), z.lte(100));

/**
 * What of a reward an answer loses by its length: so much of the group's mean reward as the share is that it has of the
 * group's longest, for each of three lengths.
 */
const lengthPenalty = z.strictObject({
  /** Of the tokens that the model wrote. */
  outputTokens: z._default(share, 0.25),
  /** Of the tokens it was given: prompt, tools, environment. */
  inputTokens: z._default(share, 0.1),
  turns: z._default(share, 0.1),
});

/**
 * Policy gradients from judged answers. The defaults are group-relative advantages (arXiv:2402.03300) with the clipped
 * objective of arXiv:1707.06347; docs/algorithms.md has every term with its formula and paper.
 */
export const grpoAlgorithm = z.strictObject({
  kind: z.literal("grpo"),
  /**
   * How much better an answer was than expected. `grpo`: than the group's mean (arXiv:2402.03300). `rloo`: than the
   * mean of the others in the group (arXiv:2402.14740). `reinforce`: than the mean of the step (arXiv:2501.03262).
   * `max_rl`: than the group's mean, in units of it (arXiv:2602.02710). `gae`: than a critic expected, token by token
   * (arXiv:1506.02438).
   */
  advantage: z._default(z.enum(["grpo", "rloo", "reinforce", "max_rl", "gae"]), "grpo"),
  /** Of `gae`. */
  critic: z.optional(criticSpec),
  /**
   * Of `grpo` and `reinforce`: divide by the standard deviation of the group, or of the step; of `gae`: mean 0 and
   * deviation 1 over all tokens of the step.
   */
  normalizeStd: z._default(z.boolean(), true),
  /** Advantages times this; matters beside terms that have no advantage. */
  advantageScale: z._default(z.number().check(z.gte(0), z.lte(1e6)), 1),
  /**
   * `ppo`: the ratio to the policy that sampled is clipped. `importance_sampling`: it is not. `dppo`: tokens whose
   * probability has moved too far with their advantage are left out (arXiv:2602.04879). `ipo`: in either direction.
   */
  loss: z._default(z.enum(["ppo", "importance_sampling", "dppo", "ipo"]), "ppo"),
  /** Of `ppo`: the ratio is clipped to [1 - clipLow, 1 + clipHigh]. */
  clipLow: z._default(z.number().check(z.gt(0), z.lt(1)), 0.2),
  clipHigh: z._default(z.number().check(z.gt(0)), 0.2),
  /** Of `dppo`: how far a probability may have fallen and risen; `ipo` goes by `maskHigh` alone. */
  maskLow: z._default(z.number().check(z.gte(0)), 0.2),
  maskHigh: z._default(z.number().check(z.gte(0)), 0.2),
  /** Of `dppo` and `ipo`: weight of the squared log-ratio to the policy that sampled (arXiv:2602.02276). */
  driftCoef: z._default(z.number().check(z.gte(0)), 0),
  /** Of `ppo` and `importance_sampling`. `sequence`: one ratio for all tokens of an answer (arXiv:2507.18071). */
  ratio: z._default(z.enum(["token", "sequence"]), "token"),
  /**
   * What the sum over tokens is divided by. `token`: the tokens of the step (arXiv:2503.14476). `sequence`: each
   * answer's own, and the answers (arXiv:2402.03300). `constant`: `maxTokens`, and the answers (arXiv:2503.20783).
   */
  normalizer: z._default(z.enum(["token", "sequence", "constant"]), "token"),
  /** Weight of the divergence from the starting weights. */
  klCoef: z._default(z.number().check(z.gte(0)), 0),
  /** http://joschu.net/blog/kl-approx.html */
  klEstimator: z._default(z.enum(["k1", "k2", "k3"]), "k3"),
  /** `loss`: differentiated (arXiv:2402.03300). `reward`: taken off the reward (arXiv:2203.02155). */
  klIn: z._default(z.enum(["loss", "reward"]), "loss"),
  /** Weight of the entropy, which is raised (arXiv:1602.01783). */
  entropyCoef: z._default(z.number().check(z.gte(0)), 0),
  /**
   * Log-probabilities are computed again by the trainer before the step, and advantages multiplied by the ratio to
   * those of the sampler, at most this (https://fengyao.notion.site/off-policy-rl). Absent: the sampler's are used.
   */
  importanceCap: z.optional(z.number().check(z.gt(0))),
  /** Answers that were cut at `maxTokens` count in their group and are not learnt (arXiv:2503.14476, section 3.4). */
  dropTruncated: z._default(z.boolean(), false),
  /** Over the last so many tokens before `maxTokens` the reward falls by up to 1 (arXiv:2503.14476, eq. 13). */
  overlongTokens: z.optional(countUpTo(131_072)),
  lengthPenalty: z.optional(lengthPenalty),
  /**
   * Prompts a step samples at most beyond `promptsPerStep`, in place of those whose answers all score the same
   * (arXiv:2503.14476, section 3.2).
   */
  maxExtraPrompts: z._default(nonNegativeInt.check(z.lte(4_096)), 0),
  /** A step learns from answers of the weights so many steps back (arXiv:2410.18252): always, and never by timing. */
  maxOffPolicySteps: z._default(nonNegativeInt.check(z.lte(64)), 0),
});
export type GrpoAlgorithm = z.infer<typeof grpoAlgorithm>;
