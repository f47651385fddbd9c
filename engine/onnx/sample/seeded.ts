import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/**
 * Uniform draws in [0, 1) from a seed alone. The k-th draw of a request belongs to its k-th token, so what a
 * request gets does not depend on what is decoded beside it.
 */
export function seededUniform(seed: number): () => number {
  const next = splitMix32(seed);
  const generator = xoroshiro128plusFromState([next(), next(), next(), next()]);
  return () => uniformFloat64(generator);
}

/**
 * The seed of one of several answers to a request: the first keeps the request's own, the others get unrelated
 * ones, so that the second answer to seed 1 is not the first to seed 2.
 */
export function choiceSeed(seed: number, choice: number): number {
  if (choice === 0) return seed;
  const next = splitMix32(seed);
  const high = next() ^ Math.imul(choice, 0x9e3779b1);
  const mixed = splitMix32(next() ^ high ^ choice);
  // 53 bits: what a double holds exactly.
  return (mixed() >>> 11) * 2 ** 32 + (mixed() >>> 0);
}

/**
 * SplitMix32 (after https://prng.di.unimi.it/splitmix64.c, with Murmur3's finaliser): neighbouring seeds give
 * unrelated states, which xoroshiro alone does not. All 53 bits of the seed count.
 */
function splitMix32(seed: number): () => number {
  let state = (seed ^ Math.imul(Math.floor(seed / 2 ** 32), 0x85ebca6b)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return mixed ^ (mixed >>> 16);
  };
}
