import { criticSpec } from "../../sdk/schema/critic.ts";
import type { GrpoAlgorithm } from "../../sdk/schema/grpo-algorithm.ts";
import * as z from "zod/mini";
import type { CriticSetup, EngineApi, TrainSequence } from "../onnx/engine-api.ts";
import { explainedVariance, generalizedAdvantages, whitened } from "./advantages/gae.ts";
import { sequencesOf, type Sample } from "./samples.ts";
import { meanOf } from "./statistics.ts";

/** A sample with its reward, and what is learnt of it: a sequence a branch. */
export interface Criticised {
  sample: Sample;
  /** The mean of its tokens' advantages. */
  advantage: number;
  sequences: TrainSequence[];
}

/**
 * Advantages token by token, from what a critic expects before each: of the answers of a step with their rewards. A
 * conversation is one episode, whatever it was branched into: only what the model wrote counts as a step of it.
 */
export async function criticise(
  engine: Pick<EngineApi, "score">,
  algorithm: GrpoAlgorithm,
  judged: readonly { sample: Sample; reward: number }[],
): Promise<{ criticised: Criticised[]; metrics: Record<string, number> }> {
  const settings = z.parse(criticSpec, algorithm.critic ?? {});
  const branches = judged.map(({ sample }) => sequencesOf(sample, 0));
  const scores = await engine.score(
    branches.flat(2).map(({ ids }) => ids),
    "critic",
    1,
  );
  const episodes = judged.map(({ reward }, index) => {
    const sequences = branches[index] ?? [];
    const values = scores.splice(0, sequences.length);
    const written = sequences.flatMap(({ mask }, branch) =>
      (values[branch] ?? []).filter((_, token) => mask[token] === 1),
    );
    return { sequences, values: written, ...generalizedAdvantages(reward, written, settings) };
  });
  const raw = episodes.map(({ advantages }) => advantages);
  const scaled = (algorithm.normalizeStd ? whitened(raw) : raw).map((each) =>
    each.map((advantage) => algorithm.advantageScale * advantage),
  );
  const criticised = episodes.map((episode, index) => ({
    sample: (judged[index] as { sample: Sample }).sample,
    advantage: meanOf(scaled[index] ?? []),
    sequences: withEstimates(episode.sequences, { ...episode, advantages: scaled[index] ?? [] }),
  }));
  const returns = episodes.flatMap((episode) => episode.returns);
  const values = episodes.flatMap((episode) => episode.values);
  return { criticised, metrics: { explained_variance: explainedVariance(returns, values) } };
}

/** What an engine is told of the critic it keeps. */
export function criticSetup(algorithm: GrpoAlgorithm): CriticSetup {
  const { learningRate, updates, clip } = z.parse(criticSpec, algorithm.critic ?? {});
  return { learningRate, updates, clip };
}

/** Hands the estimates, one a written token, out to the tokens of the branches. */
function withEstimates(
  sequences: readonly TrainSequence[],
  estimates: { advantages: number[]; returns: number[]; values: number[] },
): TrainSequence[] {
  let token = 0;
  return sequences.map((sequence) => {
    const places = sequence.mask.map((written) => (written === 1 ? token++ : undefined));
    const spread = (of: readonly number[]): number[] =>
      places.map((place) => (place === undefined ? 0 : (of[place] ?? 0)));
    return {
      ...sequence,
      advantages: spread(estimates.advantages),
      returns: spread(estimates.returns),
      values: spread(estimates.values),
    };
  });
}
