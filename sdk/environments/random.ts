import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Draws that depend on the seed alone: the same tasks on every machine. */
export interface Random {
  /** From `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(from: readonly T[]): T;
  /** So many different ones, in the order drawn. */
  some<T>(from: readonly T[], count: number): T[];
}

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const int = (low: number, high: number) => uniformInt(generator, low, high);
  return {
    int,
    pick: (from) => from[int(0, from.length - 1)] as (typeof from)[number],
    some: (from, count) => {
      const left = [...from];
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(int(0, left.length - 1), 1),
      ).flat();
    },
  };
}
