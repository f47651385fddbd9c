import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RewardRow, Verdict } from "../../sdk/schema/rollout.ts";
import type { RewardSetup } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { getEval } from "../evals/records.ts";
import { getRunSpec } from "../runs/records.ts";
import { judgeRows } from "../user-code/judge.ts";
import { liveJob, type JobRecord } from "./records.ts";

/** Judges rollouts with the rewards of the job's own run or eval, one verdict a row. */
export async function judgeForJob(
  control: Control,
  jobId: string,
  attempt: number,
  rows: RewardRow[],
  signal?: AbortSignal,
): Promise<Verdict[]> {
  const job = await liveJob(control, jobId, attempt);
  const verdicts = await judgeRows(control, await setupOf(control, job), rows, { signal });
  const missing = verdicts.filter(({ errors }) => Object.keys(errors).length > 0);
  control.tally.rewardRows(verdicts.length, missing.length);
  return verdicts;
}

async function setupOf(control: Control, job: JobRecord): Promise<RewardSetup> {
  const setup =
    job.kind === "train"
      ? (await getRunSpec(control, job.owner)).rewards
      : job.kind === "eval"
        ? (await getEval(control, job.owner)).record.spec.rewards
        : undefined;
  if (setup === undefined) throw new SpotterError("reward_missing", `Job ${job.id} has no rewards.`);
  return setup;
}
