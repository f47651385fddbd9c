import type { JobCallResult } from "./job.ts";
import type { Verdict } from "./rollout.ts";
import { MAX_SCORE, rewardValue, type UserCodeExport } from "./user-code.ts";

const MAX_WEIGHTED = 1e12;

/** A reward as far as its scores are concerned. */
type Weighted = Pick<UserCodeExport, "name" | "weight" | "precondition">;

/**
 * One rollout's verdict from what each reward gave. The total is 0 if any precondition scored 0, else the sum
 * of weight times score. A reward without a verdict is an error under its name, and then there is no total:
 * "could not tell" is never 0.
 */
export function combineVerdict(
  rewards: readonly Weighted[],
  results: readonly (JobCallResult | undefined)[],
): Verdict {
  // Without a prototype: what is asked for by name is a score or error, or nothing.
  const verdict: Verdict = { scores: bare(), errors: bare() };
  rewards.forEach((reward, index) => {
    const judged = judgedOf(reward, results[index]);
    if ("error" in judged) verdict.errors[reward.name] = judged.error;
    else verdict.scores[reward.name] = judged.score;
  });
  if (Object.keys(verdict.errors).length > 0 || rewards.length === 0) return verdict;
  return { ...verdict, total: totalOf(Object.values(verdict.scores)) };
}

/** Inherits nothing, and unlike `Object.create(null)` is as quick as any object: one is made for every row. */
const Bare = function () {} as unknown as new () => object;
Bare.prototype = Object.create(null) as object;

function bare<T>(): Record<string, T> {
  return new Bare() as Record<string, T>;
}

type Score = Verdict["scores"][string];
type Judged = { score: Score } | { error: { code: string; message: string } };

function judgedOf(reward: Weighted, result: JobCallResult | undefined): Judged {
  if (!result)
    return { error: { code: "reward_invalid", message: `${reward.name}: there is no result for this row` } };
  if ("error" in result) {
    return { error: { code: result.error.code, message: `${reward.name}: ${result.error.message}` } };
  }
  const { weight = 1, precondition = false } = reward;
  // Most scores are plain numbers, and this runs for every one of them.
  if (typeof result.value === "number" && Number.isFinite(result.value)) {
    return bounded(reward.name, { weight, precondition, score: result.value });
  }
  const parsed = rewardValue.safeParse(result.value);
  if (!parsed.success) {
    const message = `${reward.name}: it returned something that is not a finite number or { score, metrics?, reason? }`;
    return { error: { code: "reward_invalid", message } };
  }
  const value = typeof parsed.data === "number" ? { score: parsed.data } : parsed.data;
  return bounded(reward.name, { weight, precondition, ...value });
}

/** What is added up and squared later must not overflow there, where no reward could be named. */
function bounded(name: string, score: Score): Judged {
  const weighted = score.weight * score.score;
  if (Math.abs(score.score) <= MAX_SCORE && Math.abs(weighted) <= MAX_WEIGHTED) return { score };
  const what =
    Math.abs(score.score) > MAX_SCORE
      ? `it returned ${score.score}; a score is at most ${MAX_SCORE} and at least -${MAX_SCORE}`
      : `its weight times its score is ${weighted}; ${MAX_WEIGHTED} is the most`;
  return { error: { code: "reward_invalid", message: `${name}: ${what}` } };
}

function totalOf(scores: Score[]): number {
  if (scores.some(({ precondition, score }) => precondition && score === 0)) return 0;
  return scores.reduce((sum, { weight, score }) => sum + weight * score, 0);
}
