import type { TrainerParams } from "./trainer-params.ts";

export interface CriticParams {
  /** What a reward is worth a token earlier. Default 1. */
  gamma?: number;
  /** From 1, what came in the end, to 0, what the critic expects a token later. Default 0.95. */
  lambda?: number;
  /** Of the critic's head. Default 3e-4. */
  learningRate?: number;
  /** Updates of the critic a step. Default 4. */
  updates?: number;
  /** A value moves no further than this in a step. Default 0.5. */
  clip?: number;
}

/** Settings of `recipes.grpo`. docs/algorithms.md has each term with its formula and paper. */
export interface GrpoParams extends TrainerParams {
  /** Default 16. */
  promptsPerStep?: number;
  /** Answers to each prompt, compared with each other. Default 8. */
  samplesPerPrompt?: number;
  /** Longest answer in tokens. Default 256. */
  maxTokens?: number;
  /** Default 1. */
  temperature?: number;
  /** Default 1. */
  topP?: number;
  /** Default 0: every token. */
  topK?: number;
  /** Answers of a conversation with tools or an environment at most. Default 1. */
  maxTurns?: number;
  /** `last_tool`: over with an answer that calls no tool; `max_turns`: after `maxTurns` answers. Default last_tool. */
  terminationPolicy?: "last_tool" | "max_turns";
  /** Longest answer of a tool in tokens; what is longer is cut. Default: as much as there is room for. */
  maxToolTokens?: number;
  /** Longest conversation in tokens. Default: what the model takes. */
  contextTokens?: number;
  /** Whether the model and the rewards see what it thought before earlier answers. Default true. */
  includeThinking?: boolean;
  /** The conversations of a step must be over by then; one that is not has no verdict. Default 3,600,000 (an hour). */
  rolloutTimeoutMs?: number;
  /** Handed to the chat template, for example `{ enable_thinking: false }`. */
  chatTemplateKwargs?: Record<string, unknown>;
  /**
   * How much better an answer was than expected. `grpo`: than the group's mean. `rloo`: than the mean of the others in
   * the group. `reinforce`: than the mean of the step, so that one answer a prompt is enough. `max_rl`: than the group's
   * mean, in units of it. `gae`: than a critic expected, token by token; `recipes.ppo` is that. Default "grpo".
   */
  advantage?: "grpo" | "rloo" | "reinforce" | "max_rl" | "gae";
  /** Of gae. */
  critic?: CriticParams;
  /** Of grpo and reinforce: divide advantages by the standard deviation of the group, or of the step. Default true. */
  normalizeStd?: boolean;
  /** Advantages times this. Default 1. */
  advantageScale?: number;
  /**
   * `ppo`: the probability ratio is clipped. `importance_sampling`: it is not. `dppo`: tokens whose probability has moved
   * too far with their advantage are left out. `ipo`: in either direction. Default "ppo".
   */
  loss?: "ppo" | "importance_sampling" | "dppo" | "ipo";
  /** Of ppo: the probability ratio is clipped to [1 - clipLow, 1 + clipHigh]. Default 0.2. */
  clipLow?: number;
  clipHigh?: number;
  /** Of dppo: how far a probability may have fallen and risen; ipo goes by `maskHigh` alone. Default 0.2. */
  maskLow?: number;
  maskHigh?: number;
  /** Of dppo and ipo: weight of the squared log-ratio to the policy that sampled. Default 0. */
  driftCoef?: number;
  /** Of ppo and importance_sampling. `sequence`: one ratio for all tokens of an answer, as in GSPO. Default "token". */
  ratio?: "token" | "sequence";
  /**
   * What the sum over tokens is divided by. `token`: the tokens of the step. `sequence`: each answer's own, and the
   * answers. `constant`: `maxTokens`, and the answers; with `normalizeStd: false` that is Dr. GRPO. Default "token".
   */
  normalizer?: "token" | "sequence" | "constant";
  /** Weight of the divergence from the starting weights. Default 0. */
  klCoef?: number;
  /** How the divergence is estimated. Default "k3". */
  klEstimator?: "k1" | "k2" | "k3";
  /** `loss`: the divergence is differentiated. `reward`: it is taken off the reward. Default "loss". */
  klIn?: "loss" | "reward";
  /** Weight of the entropy, which is raised. Default 0. */
  entropyCoef?: number;
  /**
   * The trainer computes log-probabilities again before the step, and advantages are multiplied by the ratio to the
   * sampler's, at most this. Default: the sampler's are used.
   */
  importanceCap?: number;
  /** Answers that were cut at `maxTokens` count in their group and are not learnt. Default false. */
  dropTruncated?: boolean;
  /** Over the last so many tokens before `maxTokens` the reward falls by up to 1. Default: it does not. */
  overlongTokens?: number;
  /**
   * What of the group's mean reward an answer loses by its length, next to the group's longest: by the tokens it wrote,
   * by those it was given, and by turns. Default: nothing; where it is set, 0.25, 0.1 and 0.1.
   */
  lengthPenalty?: { outputTokens?: number; inputTokens?: number; turns?: number };
  /**
   * Prompts a step samples at most beyond `promptsPerStep`, in place of those whose answers all score the same.
   * Default 0.
   */
  maxExtraPrompts?: number;
  /**
   * A step learns from answers of the weights so many steps back, as where sampling and training run apart; always, and
   * never by timing. Default 0: of the newest weights.
   */
  maxOffPolicySteps?: number;
}
