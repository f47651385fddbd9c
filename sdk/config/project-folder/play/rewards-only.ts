import type { Verdict } from "../../../schema/rollout.ts";
import { type Conversation, rewardRow } from "./conversation.ts";
import { ownAnswer } from "./mock-player.ts";
import type { Entry } from "./player.ts";
import { estimatedTokens } from "./token-estimate.ts";
import type { ProjectUserCode } from "./user-code.ts";

const ROWS_AT_ONCE = 128;

/** What a row is answered with: what it says is right, where it says so, and nothing at all. */
export const TRIED_ANSWERS = ["expected", "empty"] as const;
type TriedAnswer = (typeof TRIED_ANSWERS)[number];

/** Scores of one reward on one kind of answer. */
export interface Scores {
  n: number;
  mean: number;
  min: number;
  max: number;
}

export interface RewardReport {
  name: string;
  /** Null where no row was judged. */
  expected: Scores | null;
  empty: Scores | null;
  /** Answers on which it gave no verdict. */
  invalid: number;
  firstError?: { entry: number; answer: TriedAnswer; code: string; message: string };
}

export interface RewardsReport {
  rows: number;
  /** Rows that say what is right. */
  rowsWithAnswer: number;
  rewards: RewardReport[];
}

/** Runs every reward over rows without a model, on the expected answer of each and on an empty one. */
export async function runRewards(
  entries: AsyncIterable<Entry>,
  code: Pick<ProjectUserCode, "rewards" | "judge">,
  signal: AbortSignal,
): Promise<RewardsReport> {
  const reports = new Map(
    code.rewards.map((name): [string, RewardReport] => [
      name,
      { name, expected: null, empty: null, invalid: 0 },
    ]),
  );
  let rows = 0;
  let rowsWithAnswer = 0;
  let tried: { entry: Entry; answer: TriedAnswer; text: string }[] = [];
  const flush = async () => {
    const batch = tried;
    tried = [];
    const verdicts = await code.judge(
      batch.map(({ entry, text }) => rewardRow(entry, answered(entry, text))),
      signal,
    );
    batch.forEach(({ entry, answer }, index) => count(reports, entry.index, answer, verdicts[index]));
  };
  for await (const entry of entries) {
    rows++;
    const expected = ownAnswer(entry);
    if (expected !== undefined) {
      rowsWithAnswer++;
      tried.push({ entry, answer: "expected", text: expected });
    }
    tried.push({ entry, answer: "empty", text: "" });
    if (tried.length >= ROWS_AT_ONCE) await flush();
  }
  if (tried.length > 0) await flush();
  return { rows, rowsWithAnswer, rewards: [...reports.values()] };
}

function answered({ row }: Entry, content: string): Conversation {
  return {
    messages: [...row.prompt, { role: "assistant", content }] as Conversation["messages"],
    response: { content, reasoning: "", toolCalls: [] },
    finishReason: "stop",
    turns: 1,
    truncated: false,
    promptTokens: 0,
    completionTokens: estimatedTokens(content),
    toolErrors: [],
  };
}

function count(
  reports: ReadonlyMap<string, RewardReport>,
  entry: number,
  answer: TriedAnswer,
  verdict: Verdict | undefined,
): void {
  for (const [name, { score }] of Object.entries(verdict?.scores ?? {})) {
    const report = reports.get(name);
    if (report) report[answer] = added(report[answer], score);
  }
  for (const [name, { code, message }] of Object.entries(verdict?.errors ?? {})) {
    const report = reports.get(name);
    if (!report) continue;
    report.invalid++;
    report.firstError ??= { entry, answer, code, message };
  }
}

function added(scores: Scores | null, score: number): Scores {
  if (scores === null) return { n: 1, mean: score, min: score, max: score };
  const n = scores.n + 1;
  return {
    n,
    mean: scores.mean + (score - scores.mean) / n,
    min: Math.min(scores.min, score),
    max: Math.max(scores.max, score),
  };
}

/** Rewards that cannot tell right from nothing: they give the expected answers no more than empty ones. */
export function cannotTell({ expected, empty }: RewardReport): boolean {
  return expected !== null && empty !== null && expected.mean <= empty.mean;
}
