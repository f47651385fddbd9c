import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { JUDGE_GRANT_HINT, judgeServer } from "../../sdk/schema/judge-grants.ts";
import type { IsolateResult } from "../ports/isolates.ts";
import { adversarialRows, type ProbeRow } from "./adversarial-rows.ts";
import { combineVerdict } from "./combine.ts";
import { callRewards, grantedTo, openRewards, type JudgeSetup, type OpenRewards } from "./judge.ts";
import { isAsking } from "./with-judges.ts";
import type { UserCodeDeps } from "./records.ts";

/** More rows find hardly more faults and cost time at every launch. */
const MAX_ROWS = 8;

export interface PreflightReport {
  /** Answers judged. */
  judged: number;
  /** Rewards that gave no verdict on some answers, each with the first cause. */
  warnings: string[];
}

/**
 * Tries the rewards on a few dataset rows with answers that break careless code, before anything costs money.
 *
 * @throws SpotterError what {@link judgeRows} throws; `reward_failed` if a reward threw or may ask no judge, `reward_timeout` if it
 * was too slow, `isolate_out_of_memory` or `isolate_crashed` if it took the isolate down, `reward_invalid` if it
 * never returned a score. The message names the reward, the row, the cause and the line.
 */
export async function preflightRewards(
  deps: UserCodeDeps,
  setup: JudgeSetup,
  rows: readonly DatasetRow[],
): Promise<PreflightReport> {
  const open = await openRewards(deps, setup);
  const noJudge = judgeServer(await grantedTo(deps, setup)).fault;
  const probes = adversarialRows(rows.slice(0, MAX_ROWS));
  const results: IsolateResult[][] = open.rewards.map(() => []);
  for (const batch of batches(probes)) {
    const byReward = await callRewards(
      open.handle,
      open.rewards,
      batch.map(({ row }) => row),
      setup.timeoutMs,
    );
    byReward.forEach((each, index) =>
      results[index]?.push(...each.map((result) => unasked(result, noJudge))),
    );
    failOnError(open, probes, results);
  }
  return { judged: probes.length, warnings: warningsOf(open, probes, results) };
}

/** Models are not asked before a launch: it would cost. That none would answer is known all the same. */
function unasked(result: IsolateResult, fault: string | undefined): IsolateResult {
  if (!isAsking(result)) return result;
  return fault === undefined ? { value: 0 } : { error: { code: NO_JUDGE, message: `judge: ${fault}` } };
}

/** The first row's answers one by one: a reward that is stuck costs its time limit once, not once a row. */
function batches(probes: ProbeRow[]): ProbeRow[][] {
  const first = probes.filter(({ dataset }) => dataset === 0);
  const rest = probes.slice(first.length);
  return [...first.map((probe) => [probe]), ...(rest.length > 0 ? [rest] : [])];
}

function failOnError({ rewards, name }: OpenRewards, probes: ProbeRow[], results: IsolateResult[][]): void {
  rewards.forEach((reward, index) => {
    results[index]?.forEach((result, at) => {
      const probe = probes[at];
      if (!probe || !("error" in result) || !isFatal(result.error.code)) return;
      if (result.error.code === NO_JUDGE)
        throw failure("reward_failed", reward.name, name, probe, result.error, JUDGE_GRANT_HINT);
      throw failure(result.error.code as ErrorCode, reward.name, name, probe, result.error);
    });
  });
}

/** Told as what it would be at the first step: the reward's failure. */
const NO_JUDGE = "no_judge";
const FATAL = [NO_JUDGE, "reward_failed", "reward_timeout", "isolate_out_of_memory", "isolate_crashed"];

function isFatal(code: string): boolean {
  return FATAL.includes(code);
}

/** What returned no score sometimes is said; what never did is an error. */
function warningsOf(
  { rewards, name }: OpenRewards,
  probes: ProbeRow[],
  results: IsolateResult[][],
): string[] {
  return rewards.flatMap((reward, index) => {
    const errors = probes.flatMap((probe, at) => {
      const error = combineVerdict([reward], [results[index]?.[at]]).errors[reward.name];
      return error ? [{ probe, error }] : [];
    });
    const first = errors[0];
    if (!first) return [];
    if (errors.length === probes.length) {
      throw failure("reward_invalid", reward.name, name, first.probe, {
        message: first.error.message.slice(reward.name.length + 2),
      });
    }
    return [
      `${reward.name} gave no verdict on ${errors.length} of ${probes.length} tried answers; ` +
        `on ${first.probe.answer} to row ${first.probe.dataset + 1}: ${first.error.message.slice(reward.name.length + 2)}`,
    ];
  });
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  reward_failed: "Return a low score for answers the reward cannot judge instead of throwing.",
  reward_timeout: "Look for a loop that does not end, or give the reward a larger timeoutMs.",
  reward_invalid: "Return a finite number, or { score, metrics?, reason? }.",
  isolate_out_of_memory: "Look for something that grows without end.",
};

function failure(
  code: ErrorCode,
  reward: string,
  file: string,
  probe: ProbeRow,
  { message, where }: { message: string; where?: string },
  hint = HINTS[code] ?? "Try the reward on this answer by itself.",
): SpotterError {
  return new SpotterError(
    code,
    `Reward "${reward}" on ${probe.answer} to row ${probe.dataset + 1}: ${message}`,
    {
      where: where ?? file,
      hint,
      status: 400,
    },
  );
}
