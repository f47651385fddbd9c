import * as z from "zod/mini";
import { nonNegativeInt } from "./common.ts";

export const toolCall = z.object({
  id: z.optional(z.string()),
  name: z.string(),
  /** Parsed arguments; the raw text where it is not JSON. */
  arguments: z.unknown(),
});
export type ToolCall = z.infer<typeof toolCall>;

/** A model's answer taken apart: what rewards see as `args.response`. */
export const parsedResponse = z.object({
  content: z.string(),
  reasoning: z.string(),
  toolCalls: z.array(toolCall),
});
export type ParsedResponse = z.infer<typeof parsedResponse>;

export const chatMessage = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.optional(z.nullable(z.union([z.string(), z.array(z.unknown())]))),
});
export type ChatMessage = z.infer<typeof chatMessage>;

/** What a reward function is called with, one row per rollout. */
export const rewardRow = z.object({
  row: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
  variables: z.record(z.string(), z.unknown()),
  response: parsedResponse,
  completion: z.object({ tokens: nonNegativeInt, finishReason: z.string() }),
  messages: z.array(chatMessage),
  /** The environment of the run whose task it is, and whose rewards judge it. */
  environment: z.optional(z.string()),
  /** The rewards that judge; absent: all. */
  rewards: z.optional(z.array(z.string())),
});
export type RewardRow = z.infer<typeof rewardRow>;

export const rewardScore = z.object({
  score: z.number(),
  weight: z.number(),
  precondition: z.boolean(),
  reason: z.optional(z.string()),
  metrics: z.optional(z.record(z.string(), z.number())),
});

/** All rewards of one rollout. `total` is absent when a reward gave no verdict. */
export const verdict = z.object({
  /** 0 if any precondition is 0, else the sum of weight times score. */
  total: z.optional(z.number()),
  scores: z.record(z.string(), rewardScore),
  /** Why there is no verdict, by reward name. */
  errors: z.record(z.string(), z.object({ code: z.string(), message: z.string() })),
});
export type Verdict = z.infer<typeof verdict>;

const rolloutTokens = {
  /** Prompt and completion; between answers, what tools and the environment said. */
  tokenIds: z.array(z.number()),
  /** 1 where the token was sampled by the model. */
  mask: z.array(z.number()),
  /** As sampled; 0 where mask is 0. */
  logprobs: z.array(z.number()),
};

/** Tokens as the model saw them in one piece; all three lists have the same length. */
export const rolloutBranch = z.object(rolloutTokens);
export type RolloutTokens = z.infer<typeof rolloutBranch>;

/** One sampled trajectory exactly as sampled; nothing that the model wrote is ever tokenised again. */
export const rollout = z.object({
  step: nonNegativeInt,
  /** Index within the step: group * samplesPerPrompt + sample. */
  index: nonNegativeInt,
  group: nonNegativeInt,
  row: z.record(z.string(), z.unknown()),
  messages: z.array(chatMessage),
  environment: z.optional(z.string()),
  /** Answers of the model; absent: one. */
  turns: z.optional(nonNegativeInt),
  /** The conversation had no more room, or no more time. */
  truncated: z.optional(z.boolean()),
  /** Answers of tools that were cut; absent: none. */
  cutAnswers: z.optional(nonNegativeInt),
  /** What came before `tokenIds` where thinking was taken out of the conversation as it went on; absent: nothing. */
  branches: z.optional(z.array(rolloutBranch)),
  ...rolloutTokens,
  /** What follows the prompt of `tokenIds`. */
  text: z.string(),
  finishReason: z.string(),
  verdict,
  advantage: z.optional(z.number()),
});
export type Rollout = z.infer<typeof rollout>;

/**
 * All sequences of a rollout in the order they were sampled: one, or where thinking was taken out of the conversation
 * one for each time it went on.
 */
export function branchesOf({ branches = [], tokenIds, mask, logprobs }: Rollout): RolloutTokens[] {
  return [...branches, { tokenIds, mask, logprobs }];
}
