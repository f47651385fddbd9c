import { meanOf, standardDeviation } from "../statistics.ts";

export interface GaeParams {
  gamma: number;
  lambda: number;
}

/**
 * Generalised advantage estimation (arXiv:1506.02438, eq. 16) over the tokens that the model wrote, with one reward
 * behind the last of them: `A_t = d_t + gamma lambda A_(t+1)` with `d_t = r_t + gamma V_(t+1) - V_t`. What the critic
 * learns is `A_t + V_t`.
 *
 * @param values the critic's, before each token
 * @example
 * generalizedAdvantages(1, [0.5, 0.5], { gamma: 1, lambda: 1 }); // advantages [0.5, 0.5], returns [1, 1]
 */
export function generalizedAdvantages(
  reward: number,
  values: readonly number[],
  { gamma, lambda }: GaeParams,
): { advantages: number[]; returns: number[] } {
  const advantages = values.map(() => 0);
  let later = 0;
  for (let token = values.length - 1; token >= 0; token--) {
    const value = values[token] ?? 0;
    const isLast = token === values.length - 1;
    const surprise = (isLast ? reward : gamma * (values[token + 1] ?? 0)) - value;
    later = surprise + gamma * lambda * later;
    advantages[token] = later;
  }
  return { advantages, returns: advantages.map((advantage, token) => advantage + (values[token] ?? 0)) };
}

/** Advantages of a step with mean 0 and deviation 1 over all its tokens. */
export function whitened(advantages: readonly (readonly number[])[]): number[][] {
  const all = advantages.flat();
  const mean = meanOf(all);
  const scale = standardDeviation(all) + 1e-8;
  return advantages.map((each) => each.map((advantage) => (advantage - mean) / scale));
}

/** Share of the returns' variance that the values foretold: 1 is all of it, 0 as good as their mean. */
export function explainedVariance(returns: readonly number[], values: readonly number[]): number {
  const left = standardDeviation(returns.map((value, token) => value - (values[token] ?? 0))) ** 2;
  const whole = standardDeviation(returns) ** 2;
  return whole === 0 ? 0 : 1 - left / whole;
}
