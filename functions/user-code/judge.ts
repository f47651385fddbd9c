import type { RewardRow, Verdict } from "../../sdk/schema/rollout.ts";
import type { RewardSetup } from "../../sdk/schema/run-spec.ts";
import type { IsolateHandle, IsolateResult } from "../ports/isolates.ts";
import type { JudgesParams } from "./ask-judges.ts";
import { combineVerdict } from "./combine.ts";
import { redacted } from "../secrets/redacted.ts";
import { loadedIsolate } from "./loaded.ts";
import { MOCK_JUDGE_URL, mockJudge } from "./mock-judge.ts";
import { withJudges } from "./with-judges.ts";
import { getUserCode, type UserCodeDeps } from "./records.ts";
import { environmentRewards, selectRewards, type SelectedReward } from "./select-rewards.ts";

/** Rows of a turn where the isolate does not say; several judges take turns. */
const ROWS_PER_TURN = 64;

/** Rewards of a file, or those of one environment that it exports. */
export type JudgeSetup = RewardSetup & { environment?: string };

export interface JudgeOptions {
  signal?: AbortSignal | undefined;
  /** Whose budget pays for models that are asked: a run. Default: all that use this code. */
  spender?: string;
  /** Makes answers up instead of asking models. */
  judge?: "mock" | undefined;
  /** Called with each question that a reward has for a model. */
  onAsk?: () => void;
}

/**
 * Judges rows with every reward of a setup, or with those that a row names. One verdict a row, in order; a reward
 * that gave none is an error in the row's verdict, never an exception.
 *
 * @throws SpotterError `not_found` for unknown code or secrets, `reward_missing` for names that are no rewards,
 * `environment_missing`, `user_code_invalid` if the code does not load.
 */
export async function judgeRows(
  deps: UserCodeDeps,
  setup: JudgeSetup,
  rows: readonly RewardRow[],
  options: JudgeOptions = {},
): Promise<Verdict[]> {
  if (rows.every((row) => row.rewards === undefined)) return judgeAlike(deps, setup, rows, options);
  const verdicts: Verdict[] = [];
  const groups = Map.groupBy(rows.keys(), (index) => JSON.stringify(rows[index]?.rewards ?? null));
  await Promise.all(
    [...groups].map(async ([named, indexes]) => {
      const names = (JSON.parse(named) as string[] | null) ?? setup.names;
      const group = indexes.flatMap((index) => rows[index] ?? []);
      const judged = await judgeAlike(deps, { ...setup, names }, group, options);
      indexes.forEach((index, at) => {
        verdicts[index] = judged[at] ?? { scores: {}, errors: {} };
      });
    }),
  );
  return verdicts;
}

/** Rows that the same rewards judge. */
async function judgeAlike(
  deps: UserCodeDeps,
  setup: JudgeSetup,
  rows: readonly RewardRow[],
  options: JudgeOptions,
): Promise<Verdict[]> {
  const { handle, rewards } = await openRewards(deps, setup);
  const verdicts: Verdict[] = [];
  const turn = handle.rowsPerTurn ?? ROWS_PER_TURN;
  const { signal } = options;
  const judges = await judgesOf(deps, setup, options);
  const ask = async (start: number) => {
    const part = rows.slice(start, start + turn);
    const results = await callRewards(handle, rewards, part, setup.timeoutMs, signal);
    return withJudges({ handle, rewards, rows: part, results, timeoutMs: setup.timeoutMs, judges });
  };
  let next = ask(0);
  for (let start = 0; start < rows.length; start += turn) {
    const byReward = await next;
    // The isolate works on the next batch while this one's verdicts are made.
    if (start + turn < rows.length) next = ask(start + turn);
    const count = Math.min(turn, rows.length - start);
    for (let index = 0; index < count; index++) {
      const verdict = combineVerdict(
        rewards,
        byReward.map((results) => results[index]),
      );
      // Reasons and errors are the user's own text, and go on into rollouts, logs and answers.
      verdicts.push(hasText(verdict) ? redacted(deps.secrets, verdict) : verdict);
    }
  }
  return verdicts;
}

async function judgesOf(deps: UserCodeDeps, setup: JudgeSetup, options: JudgeOptions): Promise<JudgesParams> {
  const { signal, onAsk, spender = setup.code.sha256 } = options;
  if (options.judge === "mock")
    return {
      secrets: { OPENAI_BASE_URL: MOCK_JUDGE_URL },
      spender: `mock ${spender}`,
      fetch: mockJudge,
      signal,
      onAsk,
    };
  return { secrets: await grantedTo(deps, setup), spender, signal, onAsk };
}

/** The secrets that the code of a setup may read. */
export async function grantedTo(deps: UserCodeDeps, { code }: JudgeSetup): Promise<Record<string, string>> {
  return code.secrets.length > 0 ? deps.secrets.resolve(code.secrets) : {};
}

/** Whether anything in it was written by user code; most verdicts are numbers under the exports' own names. */
function hasText({ scores, errors }: Verdict): boolean {
  const hasMore = ({ reason, metrics }: Verdict["scores"][string]) =>
    reason !== undefined || metrics !== undefined;
  return Object.keys(errors).length > 0 || Object.values(scores).some(hasMore);
}

export interface OpenRewards {
  handle: IsolateHandle;
  rewards: SelectedReward[];
  /** File name for messages. */
  name: string;
}

/** The isolate and the rewards that a setup names. */
export async function openRewards(deps: UserCodeDeps, setup: JudgeSetup): Promise<OpenRewards> {
  const { name, others } = await getUserCode(deps, setup.code.sha256);
  const handle = await loadedIsolate(deps, setup.code);
  const rewards =
    setup.environment === undefined
      ? selectRewards({ exports: handle.exports, others }, setup.names, name)
      : environmentRewards(handle.exports, setup.environment, name);
  return { handle, name, rewards };
}

/** Results by reward, then by row. Rewards with the same time limit share a call. */
export async function callRewards(
  handle: IsolateHandle,
  rewards: readonly SelectedReward[],
  rows: RewardRow[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<IsolateResult[][]> {
  const byLimit = Map.groupBy(rewards, (reward) => reward.timeoutMs ?? timeoutMs);
  const groups = [...byLimit].map(async ([limitMs, group]) => {
    const names = group.map(({ name, call = name }) => call);
    const results = await handle.callAll(names, rows, { timeoutMs: limitMs, signal });
    return group.map((reward, index) => [reward, results[index] ?? []] as const);
  });
  const byReward = new Map((await Promise.all(groups)).flat());
  return rewards.map((reward) => byReward.get(reward) ?? []);
}
