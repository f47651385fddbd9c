import { Tensor } from "onnxruntime-node";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { TrainBatch, TrainSequence } from "../engine-api.ts";
import type { Tensors } from "../graph/session.ts";
import type { MicroBatch } from "./micro-batches.ts";
import { objectiveShape } from "./objective-shape.ts";
import { tokenTerms, type TokenTerms } from "./token-terms.ts";

/**
 * @throws SpotterError `invalid_input` naming the sequence and field that do not fit the loss.
 */
export function checkBatch(batch: TrainBatch): void {
  if (!(batch.temperature > 0)) throw invalid("temperature", `is ${batch.temperature}, and must be above 0`);
  if (!Number.isInteger(batch.microBatchSize) || batch.microBatchSize < 1) {
    throw invalid("microBatchSize", `is ${batch.microBatchSize}, and must be a whole number from 1`);
  }
  if (typeof batch.normalizer === "number" && !(batch.normalizer > 0)) {
    throw invalid("normalizer", `is ${batch.normalizer}, and must be above 0`);
  }
  if (batch.ratio === "sequence" && batch.loss !== "ppo" && batch.loss !== "importance_sampling") {
    throw invalid("ratio", `is of the sequence, which the ${batch.loss} loss does not go by`);
  }
  if (batch.packTokens !== undefined && batch.loss !== "sft") {
    throw invalid("packTokens", `goes with the sft loss, not with ${batch.loss}`);
  }
  for (const [index, sequence] of batch.sequences.entries())
    checkSequence(sequence, `sequences[${index}]`, batch);
}

/**
 * By sequence, what its tokens' terms are divided by: the learnt tokens of the batch, as many sequences as have
 * any times the sequence's own, or what the batch says.
 */
export function divisors({ sequences, normalizer = "token" }: TrainBatch): number[] {
  const learnt = sequences.map(learntOf);
  const tokens = learnt.reduce((sum, count) => sum + count, 0);
  const withAny = learnt.filter((count) => count > 0).length;
  return learnt.map((count) => {
    if (typeof normalizer === "number") return normalizer;
    return normalizer === "sequence" ? withAny * count : tokens;
  });
}

/** Inputs of the training graph for one micro-batch of a batch with these {@link divisors}. */
export function objectiveFeeds(batch: TrainBatch, part: MicroBatch, by: readonly number[]): Tensors {
  const shape = objectiveShape(batch);
  const terms = part.places.map((place) => tokenTerms(batch, place, by));
  const perToken = (value: (term: TokenTerms) => number): Tensor =>
    new Tensor("float32", Float32Array.from(terms, value), [terms.length, 1]);
  const scalar = (value: number): Tensor => new Tensor("float32", Float32Array.of(value), []);
  const isClipped = batch.loss === "ppo";
  return {
    advantages: perToken(({ advantage, divisor }) => advantage / divisor),
    old_logprobs: perToken(({ old }) => old ?? 0),
    ref_logprobs: perToken(({ ref }) => ref ?? 0),
    ratio_scale: scalar(batch.loss === "sft" ? 0 : 1),
    kl_scale: scalar(batch.klCoef > 0 ? 1 : 0),
    kl_weight:
      shape.klWeight === "own"
        ? perToken(({ divisor }) => batch.klCoef / divisor)
        : scalar(batch.klCoef / (terms[0]?.divisor ?? 1)),
    ...(shape.trust === "clip"
      ? {
          clip_min: scalar(isClipped ? 1 - batch.clipLow : 0),
          clip_max: scalar(isClipped ? 1 + batch.clipHigh : Infinity),
        }
      : {
          mask_min: perToken(({ lowest }) => lowest),
          mask_max: perToken(({ highest }) => highest),
          drift_weight: perToken(({ divisor }) => (2 * (batch.driftCoef ?? 0)) / divisor),
        }),
    ...(shape.ratio === "sequence" ? sequenceFeeds(part) : {}),
    ...(shape.entropy && { entropy_weight: perToken(({ divisor }) => (batch.entropyCoef ?? 0) / divisor) }),
  };
}

function sequenceFeeds({ places }: MicroBatch): Tensors {
  const rows = new Map([...new Set(places.map(({ sequence }) => sequence))].map((each, row) => [each, row]));
  const owners = places.map(({ sequence }) => rows.get(sequence) ?? 0);
  const lengths = Array.from(rows, () => 0);
  for (const owner of owners) lengths[owner] = (lengths[owner] ?? 0) + 1;
  const means = new Float32Array(rows.size * places.length);
  for (const [token, owner] of owners.entries())
    means[owner * places.length + token] = 1 / (lengths[owner] ?? 1);
  return {
    sequence_means: new Tensor("float32", means, [rows.size, places.length]),
    sequence_owners: new Tensor("int64", BigInt64Array.from(owners, BigInt), [places.length]),
  };
}

function learntOf({ mask }: TrainSequence): number {
  return mask.filter((learnt) => learnt !== 0).length;
}

function checkSequence(sequence: TrainSequence, where: string, batch: TrainBatch): void {
  const { ids, mask, advantages, oldLogprobs, refLogprobs, samplerLogprobs } = sequence;
  const arrays = { mask, advantages, oldLogprobs, refLogprobs, samplerLogprobs };
  for (const [name, array] of Object.entries(arrays)) {
    if (array !== undefined && array.length !== ids.length) {
      throw invalid(`${where}.${name}`, `has ${array.length} entries for ${ids.length} ids`);
    }
  }
  if (mask[0] !== undefined && mask[0] !== 0) {
    throw invalid(`${where}.mask[0]`, "is set, and nothing predicts the first token");
  }
  if (learntOf(sequence) > 0) checkLogprobs(sequence, where, batch);
  for (const [name, array] of Object.entries({ advantages, oldLogprobs, refLogprobs, samplerLogprobs })) {
    const odd = (array ?? []).findIndex((value, position) => mask[position] !== 0 && !Number.isFinite(value));
    if (odd >= 0) throw invalid(`${where}.${name}[${odd}]`, "is not a finite number");
  }
}

function checkLogprobs(sequence: TrainSequence, where: string, batch: TrainBatch): void {
  if (batch.loss !== "sft" && sequence.oldLogprobs === undefined) {
    throw invalid(`${where}.oldLogprobs`, `is missing, and the ${batch.loss} loss needs it`);
  }
  if (batch.klCoef > 0 && sequence.refLogprobs === undefined) {
    throw invalid(`${where}.refLogprobs`, "is missing, and klCoef is above 0");
  }
  if (batch.importanceCap !== undefined && sequence.samplerLogprobs === undefined) {
    throw invalid(`${where}.samplerLogprobs`, "is missing, and there is an importanceCap");
  }
}

function invalid(where: string, what: string): SpotterError {
  return new SpotterError("invalid_input", `Training batch: ${where} ${what}.`, { where });
}
