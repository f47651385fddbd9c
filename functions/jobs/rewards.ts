import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RewardRow, Verdict } from "../../sdk/schema/rollout.ts";
import type { RewardSetup, RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { getEval } from "../evals/records.ts";
import { getRunSpec } from "../runs/records.ts";
import { judgeRows, type JudgeSetup } from "../user-code/judge.ts";
import { liveJob, type JobRecord } from "./records.ts";
import { environmentOf } from "./world.ts";

/** Judges rollouts with the rewards of the job's own run or eval, one verdict a row. */
export async function judgeForJob(
  control: Control,
  jobId: string,
  attempt: number,
  rows: RewardRow[],
  signal?: AbortSignal,
): Promise<Verdict[]> {
  const job = await liveJob(control, jobId, attempt);
  const verdicts = await judgeAll(control, job, rows, signal);
  const missing = verdicts.filter(({ errors }) => Object.keys(errors).length > 0);
  control.tally.rewardRows(verdicts.length, missing.length);
  return verdicts;
}

/** Tasks of environments by the rewards of theirs, everything else by those of the run or eval. */
async function judgeAll(
  control: Control,
  job: JobRecord,
  rows: readonly RewardRow[],
  signal: AbortSignal | undefined,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const groups = Map.groupBy(rows.keys(), (index) => rows[index]?.environment);
  await Promise.all(
    [...groups].map(async ([environment, indexes]) => {
      const setup =
        environment === undefined
          ? await setupOf(control, job)
          : await environmentSetupOf(control, job, environment);
      const group = indexes.flatMap((index) => rows[index] ?? []);
      const judged = await judgeRows(control, setup, group, { signal, spender: job.owner });
      indexes.forEach((index, at) => {
        verdicts[index] = judged[at] ?? { scores: {}, errors: {} };
      });
    }),
  );
  return verdicts;
}

async function environmentSetupOf(control: Control, job: JobRecord, name: string): Promise<JudgeSetup> {
  const { code, timeoutMs, export: environment } = environmentOf(await specOf(control, job), name);
  return { code, timeoutMs, environment, maxMissingShare: 0 };
}

async function setupOf(control: Control, job: JobRecord): Promise<RewardSetup> {
  const { rewards: setup } = await specOf(control, job);
  if (setup === undefined) throw new SpotterError("reward_missing", `Job ${job.id} has no rewards.`);
  return setup;
}

/** Who judges the work of a job. */
async function specOf(
  control: Control,
  { kind, owner }: JobRecord,
): Promise<Partial<Pick<RunSpec, "rewards" | "environments">>> {
  if (kind === "train") return getRunSpec(control, owner);
  return kind === "eval" ? (await getEval(control, owner)).record.spec : {};
}
