import * as z from "zod/mini";
import { countUpTo, nonNegativeInt, positiveInt } from "./common.ts";

/** How answers are sampled, and conversations played. */
export const rolloutSpec = z.strictObject({
  promptsPerStep: z._default(countUpTo(4_096), 16),
  samplesPerPrompt: z._default(countUpTo(1_024), 8),
  maxTokens: z._default(countUpTo(131_072), 256),
  /** Scores are divided by it, in sampling and in learning: next to 0 they overflow. */
  temperature: z._default(z.number().check(z.gte(0.01), z.lte(4)), 1),
  topP: z._default(z.number().check(z.gt(0), z.lte(1)), 1),
  topK: z._default(nonNegativeInt, 0),
  /** Answers of a conversation with tools or an environment at most. */
  maxTurns: z._default(countUpTo(1_000), 1),
  /** `last_tool`: over with an answer that calls no tool; `max_turns`: over after `maxTurns` answers. */
  terminationPolicy: z._default(z.enum(["last_tool", "max_turns"]), "last_tool"),
  /** Longest answer of a tool in tokens; what is longer is cut. Absent: as much as there is room for. */
  maxToolTokens: z.optional(countUpTo(131_072)),
  /** Longest conversation in tokens. Absent: what the model takes. */
  contextTokens: z.optional(countUpTo(10_000_000)),
  /**
   * Whether the model and the rewards see what it thought before earlier answers. If not, a conversation in which it
   * thought is stored in branches: each what the model saw in one piece.
   */
  includeThinking: z._default(z.boolean(), true),
  /** The conversations of a step must be over by then; one that is not has no verdict. Default: an hour. */
  rolloutTimeoutMs: z._default(positiveInt, 3_600_000),
  /** Handed to the chat template, for example `{ enable_thinking: false }`. */
  chatTemplateKwargs: z._default(z.record(z.string(), z.unknown()), {}),
});
