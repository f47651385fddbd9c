import { isKnown, knownOf, meanOf, tellApart } from "../statistics.ts";

/**
 * Maximum-likelihood reinforcement learning (arXiv:2602.02710): the difference from the group's mean in units of the
 * mean, so that rare successes weigh as the logarithm of their probability has them weigh. It is made for rewards from 0
 * on: a group whose mean is not above 0 returns `undefined` for all, as one that tells nothing apart.
 *
 * @example
 * relativeAdvantages([0, 0, 0, 1]); // [-1, -1, -1, 3]
 */
export function relativeAdvantages(rewards: readonly (number | undefined)[]): (number | undefined)[] {
  const known = knownOf(rewards);
  const mean = meanOf(known);
  if (!tellApart(known) || mean <= 0) return rewards.map(() => undefined);
  return rewards.map((reward) => (isKnown(reward) ? (reward - mean) / mean : undefined));
}
