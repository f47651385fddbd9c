import type { TrainBatch } from "../engine-api.ts";
import type { TokenPlace } from "./micro-batches.ts";

/** Threshold of dppo and ipo where a batch names none. */
const MASK = 0.2;

/** What the objective knows of a learnt token before the model looks at it. */
export interface TokenTerms {
  /** With the importance weight, where there is one. */
  advantage: number;
  old: number | undefined;
  ref: number | undefined;
  /** How far its probability may have fallen (a negative number) and risen without being left out. */
  lowest: number;
  highest: number;
  /** What its terms are divided by. */
  divisor: number;
}

/** @param by see `divisors` in losses.ts */
export function tokenTerms(batch: TrainBatch, place: TokenPlace, by: readonly number[]): TokenTerms {
  const sequence = batch.sequences[place.sequence];
  const divisor = by[place.sequence];
  if (sequence === undefined || divisor === undefined) throw new RangeError(`No sequence ${place.sequence}`);
  const at = (values: readonly number[] | undefined): number | undefined => values?.[place.position];
  const given = at(sequence.advantages) ?? 0;
  const old = at(sequence.oldLogprobs);
  const advantage = given * importance(batch, old, at(sequence.samplerLogprobs));
  return { advantage, old, ref: at(sequence.refLogprobs), ...bounds(batch, given), divisor };
}

/**
 * Truncated importance sampling between two programs that compute one policy, the sampler and the trainer
 * (https://fengyao.notion.site/off-policy-rl; truncated as the weights of arXiv:1802.01561): min(exp(old - sampler), cap).
 */
function importance(
  { importanceCap }: TrainBatch,
  old: number | undefined,
  sampler: number | undefined,
): number {
  if (importanceCap === undefined || old === undefined || sampler === undefined) return 1;
  return Math.min(Math.exp(old - sampler), importanceCap);
}

/** Only a move in the direction of its advantage takes a token out of dppo; ipo minds both. */
function bounds(
  { loss, maskLow = MASK, maskHigh = MASK }: TrainBatch,
  advantage: number,
): { lowest: number; highest: number } {
  if (loss === "ipo") return { lowest: -maskHigh, highest: maskHigh };
  return advantage > 0 ? { lowest: -Infinity, highest: maskHigh } : { lowest: -maskLow, highest: Infinity };
}
