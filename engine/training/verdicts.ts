import { ERROR_CODES, type ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Verdict } from "../../sdk/schema/rollout.ts";
import { meanOf, standardDeviation } from "./statistics.ts";

/** Verdicts of the whole run so far. Kept in checkpoints, so that a resumed run fails where the run would have. */
export interface VerdictCount {
  judged: number;
  missing: number;
}

/**
 * Counts the verdicts of a step and fails once too many of the whole run are missing, with the first cause.
 * The share is of those judged so far, or of `expected` where it is known how many there will be.
 *
 * @throws SpotterError with the code of the first missing verdict of this step, for example `reward_timeout`.
 */
export function countVerdicts(
  before: VerdictCount,
  verdicts: readonly Verdict[],
  maxMissingShare: number,
  expected = 0,
): VerdictCount {
  const missing = verdicts.filter((verdict) => verdict.total === undefined);
  const count = { judged: before.judged + verdicts.length, missing: before.missing + missing.length };
  const share = count.missing / Math.max(1, count.judged, expected);
  if (missing[0] === undefined || share <= maxMissingShare) return count;
  const [name, cause] = Object.entries(missing[0].errors)[0] ?? [
    "?",
    { code: "reward_failed", message: "no cause given" },
  ];
  const isLate = cause.code === "rollout_timeout";
  const what = isLate ? "A conversation" : `Reward "${name}"`;
  throw new SpotterError(
    cause.code in ERROR_CODES ? (cause.code as ErrorCode) : "reward_failed",
    `${count.missing} of ${count.judged} verdicts are missing, more than the ${maxMissingShare * 100} % allowed. ` +
      `${what}, sample ${verdicts.indexOf(missing[0])} of the step: ${cause.message}`,
    {
      where: name,
      hint: isLate
        ? "Give conversations more time (rolloutTimeoutMs), or fewer turns and tokens."
        : "Correct the reward, give it more time (timeoutMs), or raise maxMissingShare.",
    },
  );
}

/** `reward/mean`, `reward/std`, `reward/<name>` and `missing_verdicts`; means over the verdicts there are. */
export function rewardMetrics(verdicts: readonly Verdict[], prefix = ""): Record<string, number> {
  const totals = verdicts.flatMap((verdict) => verdict.total ?? []);
  const metrics: Record<string, number> = { [`${prefix}missing_verdicts`]: verdicts.length - totals.length };
  if (totals.length > 0) {
    metrics[`${prefix}reward/mean`] = meanOf(totals);
    metrics[`${prefix}reward/std`] = standardDeviation(totals);
  }
  const scores = new Map<string, number[]>();
  for (const verdict of verdicts)
    for (const [name, { score }] of Object.entries(verdict.scores))
      scores.set(name, [...(scores.get(name) ?? []), score]);
  for (const [name, values] of scores) metrics[`${prefix}reward/${name}`] = meanOf(values);
  return metrics;
}
