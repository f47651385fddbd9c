import type { Judge } from "./judge.ts";
import type { ChatMessage, ParsedResponse } from "./schema/rollout.ts";
import { checkOptions, define, must } from "./user-code/definition.ts";

export interface RewardOptions {
  /** Factor of this reward's score in the total. Default 1. */
  weight?: number;
  /** A gate: where its score is 0 the total is 0, whatever the other rewards say. Default false. */
  precondition?: boolean;
  /** Longest time for one row, in milliseconds, up to an hour. Default: the run's or eval's own limit (10 s). */
  timeoutMs?: number;
  /** One line for tables and reports. */
  description?: string;
}

/** What a reward function is given for one rollout. */
export interface RewardArgs {
  /** The dataset row the prompt was made from, all columns. */
  row: Record<string, unknown>;
  /** The row's `metadata` column; `{}` if it has none. */
  metadata: Record<string, unknown>;
  /** The row's `variables` column; `{}` if it has none. */
  variables: Record<string, unknown>;
  /** Values of the secrets granted to this code, by name. */
  secrets: Record<string, string>;
  /** The model's answer taken apart: the text, what it thought, the tools it called. */
  response: ParsedResponse;
  /** Length in tokens and why the model stopped ("stop", "length", ...). */
  completion: { tokens: number; finishReason: string };
}

/** The same, with what asks a model for its opinion. In a test of your own pass a function that answers. */
export interface JudgedRewardArgs extends RewardArgs {
  judge: Judge;
}

/** A number from -1e6 to 1e6, or one with named extra numbers and a reason that are kept beside it. */
export type RewardResult = number | { score: number; metrics?: Record<string, number>; reason?: string };

export type RewardFunction = (
  args: JudgedRewardArgs,
  /** The whole conversation, the answer last. */
  messages: ChatMessage[],
) => RewardResult | Promise<RewardResult>;

/** A reward function with its options; it can still be called like the plain function. */
export type Reward = (
  args: RewardArgs & Partial<Pick<JudgedRewardArgs, "judge">>,
  messages: ChatMessage[],
) => RewardResult | Promise<RewardResult>;

/**
 * Makes a function a reward. Every reward that a file exports judges every rollout, inside an isolate: no
 * network, no files, no environment. The total of a rollout is the sum of weight times score, and 0 where a
 * precondition scored 0. A reward that throws, takes too long or returns something that is not a finite number
 * gives no verdict: the rollout is left out, never scored 0.
 *
 * @throws TypeError if an option is unknown or has the wrong type.
 * @example
 * // rewards.ts
 * import { reward } from "spotter";
 *
 * export const threeLines = reward({ precondition: true }, ({ response }) =>
 *   response.content.trim().split("\n").length === 3 ? 1 : 0,
 * );
 * export const short = reward({ weight: 0.5, description: "characters, up to 100" }, async ({ response }) => ({
 *   score: Math.max(0, 1 - response.content.length / 100),
 *   metrics: { characters: response.content.length },
 * }));
 */
export function reward(fn: RewardFunction): Reward;
export function reward(options: RewardOptions, fn: RewardFunction): Reward;
export function reward(first: RewardOptions | RewardFunction, second?: RewardFunction): Reward {
  // Ignored, a weight that was meant to count would count for nothing.
  if (typeof first === "function" && second !== undefined)
    throw new TypeError("reward: options come first: reward({ weight: 0.5 }, function)");
  const options = typeof first === "function" ? {} : first;
  const fn = typeof first === "function" ? first : second;
  checkOptions("reward", options, {
    weight: must.beFinite,
    precondition: must.beBoolean,
    timeoutMs: must.beTimeoutMs,
    description: must.beText,
  });
  if (typeof fn !== "function") throw new TypeError("reward: the last argument must be a function");
  const judge: Reward = (args, messages) => fn(args as JudgedRewardArgs, messages);
  return define(judge, { kind: "reward", weight: 1, precondition: false, ...options });
}
