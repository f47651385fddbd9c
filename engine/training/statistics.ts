/** Below this values count as equal: what is left is rounding. */
const FLAT = 1e-6;

/** 0 for an empty list. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of the population; 0 for an empty list. */
export function standardDeviation(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}

/** Those of a list of rewards that can be compared: a sample without a verdict has none. */
export function knownOf(rewards: readonly (number | undefined)[]): number[] {
  return rewards.filter(isKnown);
}

export function isKnown(reward: number | undefined): reward is number {
  return reward !== undefined && Number.isFinite(reward);
}

/**
 * Whether rewards tell their answers apart. Those so large that their squares overflow compare as little as equal
 * ones.
 */
export function tellApart(known: readonly number[]): boolean {
  const std = standardDeviation(known);
  return known.length >= 2 && std >= FLAT && Number.isFinite(std);
}
