import type { GrpoAlgorithm } from "../../sdk/schema/grpo-algorithm.ts";
import { klOf } from "../onnx/train/loss-metrics.ts";
import { branchesOf, writtenTokens } from "./episode.ts";
import { writtenLogprobs, type Sample } from "./samples.ts";
import { knownOf, meanOf } from "./statistics.ts";

type Reward = number | undefined;

export interface ShapingParams {
  algorithm: GrpoAlgorithm;
  /** Longest answer in tokens. */
  maxTokens: number;
  /** A group's samples and what they were judged to be worth. */
  samples: readonly Sample[];
  rewards: readonly Reward[];
  /** Log-probabilities under the reference, a list a branch for each sample; where the divergence is in the reward. */
  references?: readonly (readonly (readonly number[])[])[] | undefined;
}

/** The rewards of a group less what they lose by length and divergence; one without a verdict stays without. */
export function shapedRewards({
  algorithm,
  maxTokens,
  samples,
  rewards,
  references,
}: ShapingParams): Reward[] {
  const { lengthPenalty, overlongTokens, klCoef, klEstimator } = algorithm;
  const byLength = lengthPenalty === undefined ? [] : lengthPenalties(lengthPenalty, samples, rewards);
  return samples.map((sample, index) => {
    const reward = rewards[index];
    if (reward === undefined) return undefined;
    const reference = references?.[index];
    const divergence = reference === undefined ? 0 : klCoef * divergenceOf(sample, reference, klEstimator);
    const overlong =
      overlongTokens === undefined ? 0 : overlongPenalty(writtenTokens(sample), maxTokens, overlongTokens);
    return reward - (byLength[index] ?? 0) - overlong - divergence;
  });
}

/**
 * Soft overlong punishment (arXiv:2503.14476, eq. 13): nothing up to `overlongTokens` before the longest answer, then in
 * a straight line up to 1 there.
 *
 * @example
 * overlongPenalty(90, 100, 20); // 0.5
 */
export function overlongPenalty(tokens: number, maxTokens: number, overlongTokens: number): number {
  return Math.min(1, Math.max(0, (tokens - (maxTokens - overlongTokens)) / overlongTokens));
}

/**
 * A linear length penalty: `mean reward * sum of share * (length / the group's longest)` over the tokens written, the
 * tokens given and the turns. An all but hopeless group, whose mean is small, is hardly told to be brief, and one whose
 * mean is below 0 not at all: there the same formula would praise length.
 */
export function lengthPenalties(
  shares: NonNullable<GrpoAlgorithm["lengthPenalty"]>,
  samples: readonly Sample[],
  rewards: readonly Reward[],
): number[] {
  const mean = Math.max(0, meanOf(knownOf(rewards)));
  const output = samples.map(writtenTokens);
  const input = samples.map((sample, index) => seenTokens(sample) - (output[index] ?? 0));
  const turns = samples.map((sample) => sample.turns);
  const terms: [share: number, lengths: number[]][] = [
    [shares.outputTokens, output],
    [shares.inputTokens, input],
    [shares.turns, turns],
  ];
  return samples.map((_, index) =>
    terms.reduce(
      (sum, [share, lengths]) => sum + (mean * share * (lengths[index] ?? 0)) / Math.max(1, ...lengths),
      0,
    ),
  );
}

function seenTokens(sample: Sample): number {
  return branchesOf(sample).reduce((sum, { prompt, ids }) => sum + prompt.ids.length + ids.length, 0);
}

/**
 * The divergence from the reference of an answer as it was sampled: the sum over its tokens, as the reward of
 * arXiv:2203.02155, eq. 2, has it.
 */
function divergenceOf(
  sample: Sample,
  references: readonly (readonly number[])[],
  estimator: GrpoAlgorithm["klEstimator"],
): number {
  const sampled = writtenLogprobs(sample);
  return branchesOf(sample).reduce((sum, { prompt, mask }, branch) => {
    const reference = (references[branch] ?? []).slice(prompt.ids.length).filter((_, at) => mask[at] === 1);
    return reference.reduce(
      (part, logprob, token) => part + klOf(logprob - (sampled[branch]?.[token] ?? logprob), estimator),
      sum,
    );
  }, 0);
}
