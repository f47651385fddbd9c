import type { RewardRow, ChatMessage } from "../../sdk/schema/rollout.ts";
import { rewardRowOf, type JudgedAnswer } from "../reward-row.ts";
import type { Question } from "./questions.ts";

/** A conversation that was played to its end. */
export interface Played extends JudgedAnswer {
  messages: ChatMessage[];
  turns: number;
  truncated: boolean;
  cutAnswers: number;
  /** Why it has no end that could be judged. */
  failure?: { code: string; message: string };
}

/** Plays one conversation. Rejects only with what would keep all others from being played as well. */
export type Play = (question: Question) => Promise<Played>;

/** One of which nothing can be judged. */
export function unplayed(failure: { code: string; message: string }): Played {
  return {
    response: { content: "", reasoning: "", toolCalls: [] },
    tokens: 0,
    finishReason: "error",
    messages: [],
    turns: 0,
    truncated: false,
    cutAnswers: 0,
    failure: { code: failure.code, message: failure.message },
  };
}

/** What a reward function gets to see of it, as in a training. */
export function judgedRow({ row }: Question, played: Played): RewardRow {
  return {
    ...rewardRowOf(row, played),
    messages: played.messages,
    ...(row.environment === undefined ? {} : { environment: row.environment }),
    ...(row.rewards === undefined ? {} : { rewards: row.rewards }),
  };
}
