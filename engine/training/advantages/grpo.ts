import { isKnown, knownOf, meanOf, standardDeviation, tellApart } from "../statistics.ts";

/** Keeps small spreads from exploding; as in the reference settings of arXiv:2402.03300 implementations. */
const EPSILON = 1e-4;

/**
 * Group-relative advantages (arXiv:2402.03300, section 4.1): how much better each sample did than the other
 * answers to the same prompt, divided by the group's (population) standard deviation where `normalizeStd`; without it
 * they are those of arXiv:2503.20783.
 *
 * A sample without a verdict (`undefined`) takes no part: it neither gets an advantage nor moves the mean.
 * A reward that is no finite number counts as none.
 *
 * A group that has nothing to tell its samples apart returns `undefined` for all of them.
 *
 * @example
 * groupAdvantages([1, 3, undefined], false); // [-1, 1, undefined]
 */
export function groupAdvantages(
  rewards: readonly (number | undefined)[],
  normalizeStd: boolean,
): (number | undefined)[] {
  const known = knownOf(rewards);
  if (!tellApart(known)) return rewards.map(() => undefined);
  const mean = meanOf(known);
  const scale = normalizeStd ? standardDeviation(known) + EPSILON : 1;
  return rewards.map((reward) => (isKnown(reward) ? (reward - mean) / scale : undefined));
}
