import type { TokenAlternative } from "../engine-api.ts";
import { largest } from "./largest.ts";

export interface SamplingParams {
  /** 0 takes the most likely token. */
  temperature: number;
  /** 1 keeps every token. */
  topP: number;
  /** 0 keeps every token. */
  topK: number;
}

/** The temperature a row of probabilities is computed at: that of the request, and 1 when greedy. */
export function probabilityTemperature(temperature: number): number {
  return temperature === 0 ? 1 : temperature;
}

/**
 * Picks a token from a row of probabilities (at {@link probabilityTemperature}). `uniform` in [0, 1) decides;
 * the walk goes through the row in id order, or through the kept tokens from the likeliest down.
 */
export function pickToken(row: Float32Array, params: SamplingParams, uniform: number): number {
  if (params.temperature === 0) return argmax(row);
  if (params.topK === 0 && params.topP >= 1) return walk(row, uniform);
  return pickOf(nucleus(row, params), row, uniform);
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

function argmax(row: Float32Array): number {
  let best = 0;
  let highest = -1;
  for (let id = 0; id < row.length; id++) {
    const probability = row[id] ?? 0;
    if (probability > highest) {
      highest = probability;
      best = id;
    }
  }
  return best;
}

function walk(row: Float32Array, uniform: number): number {
  let rest = uniform;
  let last = 0;
  for (let id = 0; id < row.length; id++) {
    const probability = row[id] ?? 0;
    if (probability === 0) continue;
    rest -= probability;
    if (rest < 0) return id;
    last = id;
  }
  // The row sums to 1 only up to rounding.
  return last;
}

/** Ids kept by top-k and then top-p, likeliest first. */
function nucleus(row: Float32Array, { topP, topK }: SamplingParams): number[] {
  const ranked = topK > 0 ? largest(row, topK) : candidates(row, topP);
  if (topP >= 1) return ranked;
  const total = topK > 0 ? sum(ranked, row) : 1;
  let mass = 0;
  const end = ranked.findIndex((id) => (mass += row[id] ?? 0) >= topP * total);
  return end < 0 ? ranked : ranked.slice(0, end + 1);
}

/**
 * Everything that can be in the nucleus, likeliest first: all tokens below (1 - topP) / size together have
 * less than 1 - topP, so none of them is needed to reach topP.
 */
function candidates(row: Float32Array, topP: number): number[] {
  const threshold = (1 - topP) / row.length;
  const ids: number[] = [];
  for (let id = 0; id < row.length; id++) if ((row[id] ?? 0) >= threshold) ids.push(id);
  return ids.sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0) || a - b);
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
  return ids.reduce((total, id) => total + (row[id] ?? 0), 0);
}
