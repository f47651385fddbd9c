import type { JudgeAnswer, JudgeAnswers } from "../../sdk/schema/judge-ask.ts";
import type { RewardRow } from "../../sdk/schema/rollout.ts";
import type { IsolateHandle, IsolateResult } from "../ports/isolates.ts";
import { askJudge, type JudgesParams } from "./ask-judges.ts";
import type { SelectedReward } from "./select-rewards.ts";

/** A reward that asks in each round something else comes to no end. */
const MAX_ROUNDS = 8;

export interface WithJudgesParams {
  handle: Pick<IsolateHandle, "callAll">;
  rewards: readonly SelectedReward[];
  rows: readonly RewardRow[];
  /** By reward, then by row. */
  results: IsolateResult[][];
  timeoutMs: number;
  judges: JudgesParams;
}

interface Open {
  row: number;
  asks: Record<string, unknown>;
}

/** Runs rewards again that wait for a model, with its answers, until none waits any more. */
export function withJudges(params: WithJudgesParams): Promise<IsolateResult[][]> {
  return Promise.all(
    params.rewards.map((reward, index) => settled(reward, params.results[index] ?? [], params)),
  );
}

async function settled(
  reward: SelectedReward,
  first: readonly IsolateResult[],
  { handle, rows, timeoutMs, judges }: WithJudgesParams,
): Promise<IsolateResult[]> {
  const results = [...first];
  const answers = new Map<number, JudgeAnswers>();
  const { name, call = name } = reward;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const open = waitingIn(results);
    if (open.length === 0) return results;
    await Promise.all(
      open.map(async ({ row, asks }) => {
        const given = await Promise.all(
          Object.entries(asks).map(async ([text, ask]): Promise<[string, JudgeAnswer]> => [
            text,
            await askJudge(ask, judges),
          ]),
        );
        answers.set(row, { ...answers.get(row), ...Object.fromEntries(given) });
      }),
    );
    const again = open.map(({ row }) => ({ ...rows[row], judged: answers.get(row) }));
    const limit = { timeoutMs: reward.timeoutMs ?? timeoutMs, signal: judges.signal };
    const [fresh = []] = await handle.callAll([call], again, limit);
    open.forEach(({ row }, at) => {
      const result = fresh[at];
      if (result) results[row] = result;
    });
  }
  const error = {
    code: "reward_failed",
    message: `it asks a model without end: ${MAX_ROUNDS} times in a row`,
  };
  for (const { row } of waitingIn(results)) results[row] = { error };
  return results;
}

function waitingIn(results: readonly IsolateResult[]): Open[] {
  return results.flatMap((result, row) => {
    const asks = asksOf(result);
    return asks === undefined ? [] : [{ row, asks }];
  });
}

/** Whether a reward waits for a model's answer. */
export function isAsking(result: IsolateResult): boolean {
  return asksOf(result) !== undefined;
}

/** Only the adapter makes such a value: what a reward itself returns has no key of this name. */
function asksOf(result: IsolateResult): Record<string, unknown> | undefined {
  const value = "value" in result ? result.value : undefined;
  if (typeof value !== "object" || value === null || !("asks" in value)) return undefined;
  return value.asks as Record<string, unknown>;
}
