import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

export interface Random {
  /** From 0 (included) to 1 (not included). */
  uniform(): number;
  exponential(mean: number): number;
  poisson(mean: number): number;
  normal(): number;
}

export function seeded(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const uniform = () => (generator.next() >>> 0) / 2 ** 32;
  const exponential = (mean: number) => -Math.log(1 - uniform()) * mean;
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    exponential,
    normal,
    poisson(mean) {
      // Above this the normal distribution is as good.
      if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
      const limit = Math.exp(-mean);
      let count = -1;
      for (let product = 1; product > limit; count++) product *= uniform();
      return Math.max(0, count);
    },
  };
}
