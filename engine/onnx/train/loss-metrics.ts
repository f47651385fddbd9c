import type { TrainBatch } from "../engine-api.ts";
import type { KlEstimator } from "../models/objective.ts";
import type { MicroBatch } from "./micro-batches.ts";
import { tokenTerms, type TokenTerms } from "./token-terms.ts";

/** The value of a batch's objective and what a step tells of it, in double precision. */
export class LossMetrics {
  readonly #batch: TrainBatch;
  readonly #divisors: readonly number[];
  #loss = 0;
  #kl = 0;
  #entropy = 0;
  #clipped = 0;
  #tokens = 0;

  /** @param by see `divisors` in losses.ts */
  constructor(batch: TrainBatch, by: readonly number[]) {
    this.#batch = batch;
    this.#divisors = by;
  }

  /** Takes in a micro-batch, of whose places the graph gave log-probability and entropy. */
  add({ places }: MicroBatch, logprobs: readonly number[], entropies: readonly number[]): void {
    const batch = this.#batch;
    const terms = places.map((place) => tokenTerms(batch, place, this.#divisors));
    const logRatios = terms.map(({ old }, index) => (logprobs[index] ?? 0) - (old ?? logprobs[index] ?? 0));
    if (batch.ratio === "sequence") averageBySequence(logRatios, places);
    for (const [index, term] of terms.entries()) {
      const logprob = logprobs[index] ?? 0;
      const entropy = entropies[index] ?? 0;
      const { value, isClipped } = surrogate(batch, term, logprob, logRatios[index] ?? 0);
      const distance = (term.ref ?? term.old ?? logprob) - logprob;
      const penalty = batch.klCoef === 0 ? 0 : batch.klCoef * klOf(distance, batch.klEstimator);
      this.#loss += (penalty - value - (batch.entropyCoef ?? 0) * entropy) / term.divisor;
      this.#kl += klOf(distance);
      this.#entropy += entropy;
      this.#clipped += isClipped ? 1 : 0;
      this.#tokens++;
    }
  }

  /** All 0 without a token; all but the loss means over the tokens. */
  result(): { loss: number; kl: number; entropy: number; clipFraction: number; tokens: number } {
    const mean = (sum: number): number => (this.#tokens === 0 ? 0 : sum / this.#tokens);
    return {
      loss: this.#loss,
      kl: mean(this.#kl),
      entropy: mean(this.#entropy),
      clipFraction: mean(this.#clipped),
      tokens: this.#tokens,
    };
  }
}

/**
 * Estimates of KL(policy || other) from samples of the policy, `distance` being log other - log policy
 * (http://joschu.net/blog/kl-approx.html). k1 is unbiased; k2 and k3 are never negative; k3 is unbiased as well.
 */
export function klOf(distance: number, estimator: KlEstimator = "k3"): number {
  if (estimator === "k1") return -distance;
  return estimator === "k2" ? distance ** 2 / 2 : Math.expm1(distance) - distance;
}

/** What a token adds to the objective, which is to be raised. */
function surrogate(
  { loss, clipLow, clipHigh, driftCoef = 0 }: TrainBatch,
  { advantage, old, lowest, highest }: TokenTerms,
  logprob: number,
  logRatio: number,
): { value: number; isClipped: boolean } {
  if (loss === "sft") return { value: advantage * logprob, isClipped: false };
  const ratio = Math.exp(logRatio);
  if (loss === "importance_sampling") return { value: ratio * advantage, isClipped: false };
  if (loss === "ppo") {
    const bounded = Math.min(1 + clipHigh, Math.max(1 - clipLow, ratio)) * advantage;
    return { value: Math.min(ratio * advantage, bounded), isClipped: bounded < ratio * advantage };
  }
  const moved = Math.exp(logprob) - Math.exp(old ?? logprob);
  const isClipped = moved < lowest || moved > highest;
  return { value: (isClipped ? 0 : ratio * advantage) - driftCoef * logRatio ** 2, isClipped };
}

function averageBySequence(values: number[], places: MicroBatch["places"]): void {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const [index, { sequence }] of places.entries()) {
    const { sum, count } = sums.get(sequence) ?? { sum: 0, count: 0 };
    sums.set(sequence, { sum: sum + (values[index] ?? 0), count: count + 1 });
  }
  for (const [index, { sequence }] of places.entries()) {
    const { sum, count } = sums.get(sequence) ?? { sum: 0, count: 1 };
    values[index] = sum / count;
  }
}
