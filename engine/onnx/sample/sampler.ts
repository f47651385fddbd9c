import type { TokenAlternative } from "../engine-api.ts";
import { largest } from "./largest.ts";
import { nucleusCut, walkNucleus } from "./nucleus.ts";
import { argmax, sumAbove, walk, walkAbove } from "./row.ts";

export interface SamplingParams {
  /** 0 takes the most likely token. */
  temperature: number;
  /** 1 keeps every token. */
  topP: number;
  /** 0 keeps every token. */
  topK: number;
  /** Drops tokens less likely than this share of the likeliest. Default: 0, which keeps every token. */
  minP?: number | undefined;
}

/** The temperature a row of probabilities is computed at: that of the request, and 1 when greedy. */
export function probabilityTemperature(temperature: number): number {
  return temperature === 0 ? 1 : temperature;
}

/**
 * Picks a token from a row of probabilities (at {@link probabilityTemperature}). `uniform` in [0, 1) decides;
 * the walk goes through the row in id order, or from the likeliest down with top-k. Tokens are dropped by
 * min-p, then top-k, then top-p of what is left, as vLLM does.
 */
export function pickToken(row: Float32Array, params: SamplingParams, uniform: number): number {
  const { temperature, topP, topK, minP = 0 } = params;
  if (temperature === 0) return argmax(row);
  const floor = minP > 0 ? minP * (row[argmax(row)] ?? 0) : 0;
  if (topK === 0 && topP >= 1) {
    return floor === 0 ? walk(row, uniform) : walkAbove(row, floor, uniform * sumAbove(row, floor));
  }
  if (topK > 0) return pickOf(topKOf(row, topK, floor, topP), row, uniform);
  const total = floor > 0 ? sumAbove(row, floor) : 1;
  const cut = nucleusCut(row, topP * total);
  // Rounding left the row a little short of it.
  if (cut === undefined) return walkAbove(row, floor, uniform * sumAbove(row, floor));
  return walkNucleus(row, cut, uniform * cut.mass);
}

/** Natural logarithm of a probability; never minus infinity, which JSON cannot carry. */
export function logOf(probability: number): number {
  return Math.log(Math.max(probability, MINIMUM));
}

/** The `count` likeliest tokens, likeliest first. */
export function alternatives(row: Float32Array, count: number): TokenAlternative[] {
  return largest(row, count).map((id) => ({ id, logprob: logOf(row[id] ?? 0) }));
}

/** The smallest normal float32: what a softmax in float32 cannot tell from 0. */
const MINIMUM = 2 ** -126;

/** Ids kept by top-k and then top-p, likeliest first. */
function topKOf(row: Float32Array, topK: number, floor: number, topP: number): number[] {
  const ranked = largest(row, topK);
  const kept = floor > 0 ? ranked.filter((id) => (row[id] ?? 0) >= floor) : ranked;
  if (topP >= 1) return kept;
  const mass = topP * sum(kept, row);
  let reached = 0;
  const end = kept.findIndex((id) => (reached += row[id] ?? 0) >= mass);
  return end < 0 ? kept : kept.slice(0, end + 1);
}

function pickOf(ids: readonly number[], row: Float32Array, uniform: number): number {
  let rest = uniform * sum(ids, row);
  for (const id of ids) {
    rest -= row[id] ?? 0;
    if (rest < 0) return id;
  }
  return ids.at(-1) ?? 0;
}

function sum(ids: readonly number[], row: Float32Array): number {
  let total = 0;
  for (const id of ids) total += row[id] ?? 0;
  return total;
}
