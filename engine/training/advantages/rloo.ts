import { isKnown, knownOf, meanOf, tellApart } from "../statistics.ts";

/**
 * REINFORCE leave-one-out (arXiv:2402.14740, eq. 8): how much better each sample did than the mean of the others in its
 * group, which does not hang on it, so that the gradient is without bias. `undefined` as in `groupAdvantages`.
 *
 * @example
 * leaveOneOut([1, 3, 5]); // [-3, 0, 3]
 */
export function leaveOneOut(rewards: readonly (number | undefined)[]): (number | undefined)[] {
  const known = knownOf(rewards);
  if (!tellApart(known)) return rewards.map(() => undefined);
  const mean = meanOf(known);
  const share = known.length / (known.length - 1);
  return rewards.map((reward) => (isKnown(reward) ? share * (reward - mean) : undefined));
}
