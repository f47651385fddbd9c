import { Tensor } from "onnxruntime-node";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { TrainBatch, TrainSequence } from "../engine-api.ts";
import type { Tensors } from "../graph/session.ts";
import type { MicroBatch, TokenPlace } from "./micro-batches.ts";

/**
 * @throws SpotterError `invalid_input` naming the sequence and field that do not fit the loss.
 */
export function checkBatch(batch: TrainBatch): void {
  if (!(batch.temperature > 0)) throw invalid("temperature", `is ${batch.temperature}, and must be above 0`);
  if (!Number.isInteger(batch.microBatchSize) || batch.microBatchSize < 1) {
    throw invalid("microBatchSize", `is ${batch.microBatchSize}, and must be a whole number from 1`);
  }
  for (const [index, sequence] of batch.sequences.entries())
    checkSequence(sequence, `sequences[${index}]`, batch);
}

/** Tokens that are learnt from. */
export function learntTokens(batch: TrainBatch): number {
  return batch.sequences.reduce((sum, { mask }) => sum + mask.filter((learnt) => learnt !== 0).length, 0);
}

/** Inputs of the training graph for one micro-batch; `tokens` is the number learnt in the whole batch. */
export function objectiveFeeds(batch: TrainBatch, { places }: MicroBatch, tokens: number): Tensors {
  const perToken = (value: (sequence: TrainSequence, position: number) => number): Tensor => {
    const data = Float32Array.from(places, (place) => value(sequenceAt(batch, place), place.position));
    return new Tensor("float32", data, [places.length, 1]);
  };
  const scalar = (value: number): Tensor => new Tensor("float32", Float32Array.of(value), []);
  return {
    advantages: perToken((sequence, position) => (sequence.advantages[position] ?? 0) / tokens),
    old_logprobs: perToken((sequence, position) => sequence.oldLogprobs?.[position] ?? 0),
    ref_logprobs: perToken((sequence, position) => sequence.refLogprobs?.[position] ?? 0),
    ratio_scale: scalar(batch.loss === "ppo" ? 1 : 0),
    clip_min: scalar(1 - batch.clipLow),
    clip_max: scalar(1 + batch.clipHigh),
    kl_scale: scalar(batch.klCoef > 0 ? 1 : 0),
    kl_weight: scalar(batch.klCoef / tokens),
  };
}

/** Sums over the learnt tokens of a batch, in double precision. */
export class Metrics {
  #loss = 0;
  #kl = 0;
  #entropy = 0;
  #clipped = 0;
  #tokens = 0;

  add(batch: TrainBatch, place: TokenPlace, logprob: number, entropy: number): void {
    const { advantages, oldLogprobs, refLogprobs } = sequenceAt(batch, place);
    const advantage = advantages[place.position] ?? 0;
    const old = oldLogprobs?.[place.position];
    const towards = refLogprobs?.[place.position] ?? old;
    const kl = towards === undefined ? 0 : k3(towards - logprob);
    let objective = advantage * logprob;
    if (batch.loss === "ppo") {
      const ratio = Math.exp(logprob - (old ?? logprob));
      const bounded = Math.min(1 + batch.clipHigh, Math.max(1 - batch.clipLow, ratio));
      objective = Math.min(ratio * advantage, bounded * advantage);
      if (bounded * advantage < ratio * advantage) this.#clipped++;
    }
    this.#loss += batch.klCoef * kl - objective;
    this.#kl += kl;
    this.#entropy += entropy;
    this.#tokens++;
  }

  /** Means over the tokens; all 0 without any. */
  result(): { loss: number; kl: number; entropy: number; clipFraction: number; tokens: number } {
    const mean = (sum: number): number => (this.#tokens === 0 ? 0 : sum / this.#tokens);
    return {
      loss: mean(this.#loss),
      kl: mean(this.#kl),
      entropy: mean(this.#entropy),
      clipFraction: mean(this.#clipped),
      tokens: this.#tokens,
    };
  }
}

/** Schulman's estimate of KL(policy || other) from samples of the policy: never negative, low variance. */
function k3(logRatio: number): number {
  return Math.expm1(logRatio) - logRatio;
}

function checkSequence(sequence: TrainSequence, where: string, batch: TrainBatch): void {
  const { ids, mask, advantages, oldLogprobs, refLogprobs } = sequence;
  const arrays = { mask, advantages, oldLogprobs, refLogprobs };
  for (const [name, array] of Object.entries(arrays)) {
    if (array !== undefined && array.length !== ids.length) {
      throw invalid(`${where}.${name}`, `has ${array.length} entries for ${ids.length} ids`);
    }
  }
  if (mask[0] !== undefined && mask[0] !== 0) {
    throw invalid(`${where}.mask[0]`, "is set, and nothing predicts the first token");
  }
  if (batch.loss === "ppo" && oldLogprobs === undefined && mask.some((learnt) => learnt !== 0)) {
    throw invalid(`${where}.oldLogprobs`, "is missing, and the ppo loss needs it");
  }
  if (batch.klCoef > 0 && refLogprobs === undefined && mask.some((learnt) => learnt !== 0)) {
    throw invalid(`${where}.refLogprobs`, "is missing, and klCoef is above 0");
  }
  for (const [name, array] of Object.entries({ advantages, oldLogprobs, refLogprobs })) {
    const odd = (array ?? []).findIndex((value, position) => mask[position] !== 0 && !Number.isFinite(value));
    if (odd >= 0) throw invalid(`${where}.${name}[${odd}]`, "is not a finite number");
  }
}

function sequenceAt(batch: TrainBatch, place: TokenPlace): TrainSequence {
  const sequence = batch.sequences[place.sequence];
  if (sequence === undefined) throw new RangeError(`No sequence ${place.sequence}`);
  return sequence;
}

function invalid(where: string, what: string): SpotterError {
  return new SpotterError("invalid_input", `Training batch: ${where} ${what}.`, { where });
}
