/** Below this a group's rewards count as equal: what is left is rounding. */
const FLAT = 1e-6;
/** Keeps small spreads from exploding; as in the reference settings of arXiv:2402.03300 implementations. */
const EPSILON = 1e-4;

/**
 * Group-relative advantages (arXiv:2402.03300, section 4.1): how much better each sample did than the other
 * answers to the same prompt, divided by the group's (population) standard deviation where `normalizeStd`.
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
  const known = rewards.filter((reward) => reward !== undefined && Number.isFinite(reward)) as number[];
  const mean = meanOf(known);
  const std = standardDeviation(known);
  // Rewards so large that their squares overflow compare as little as equal ones.
  if (known.length < 2 || std < FLAT || !Number.isFinite(std)) return rewards.map(() => undefined);
  const scale = normalizeStd ? std + EPSILON : 1;
  return rewards.map((reward) =>
    reward === undefined || !Number.isFinite(reward) ? undefined : (reward - mean) / scale,
  );
}

/** 0 for an empty list. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of the population; 0 for an empty list. */
export function standardDeviation(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}
