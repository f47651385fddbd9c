import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

/** A seeded source of choices: same seed, same sequence, on every machine. */
export class Random {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return uniformInt(this.#generator, low, high);
  }

  chance(probability: number): boolean {
    return uniformFloat64(this.#generator) < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T;
  }

  /** An index, drawn in proportion to its weight. */
  weighted(weights: readonly number[]): number {
    let rest = uniformFloat64(this.#generator) * weights.reduce((sum, weight) => sum + weight, 0);
    for (let i = 0; i < weights.length - 1; i++) {
      rest -= weights[i] as number;
      if (rest < 0) return i;
    }
    return weights.length - 1;
  }

  /** A draw from the standard normal distribution (Box and Muller, 1958). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(this.#generator)));
    return radius * Math.cos(2 * Math.PI * uniformFloat64(this.#generator));
  }
}
