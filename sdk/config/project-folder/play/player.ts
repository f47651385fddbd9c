import type { DatasetRow } from "../../../schema/dataset.ts";
import type { ToolDefinition } from "../../../schema/job.ts";
import type { ChatMessage, ParsedResponse } from "../../../schema/rollout.ts";

/** One row to play. */
export interface Entry {
  /** Its place in the file, from 0, as `--entry` counts. */
  index: number;
  row: DatasetRow;
}

/** What a model is asked for. */
export interface Turn {
  entry: Entry;
  messages: readonly ChatMessage[];
  /** The tools that this row may call. */
  tools: readonly ToolDefinition[];
  /** From 1. */
  number: number;
  /** Of how many turns at most. */
  maxTurns: number;
  /** Room for the answer in tokens, where it is known. */
  maxTokens: number;
  seed: number;
  signal: AbortSignal;
}

/** A model's answer, taken apart. */
export interface Answer {
  response: ParsedResponse;
  finishReason: "stop" | "length";
  promptTokens: number;
  completionTokens: number;
}

/** Something that answers: a model somewhere, or none at all. */
export interface Player {
  /** What is played with, for people. */
  name: string;
  answer(turn: Turn): Promise<Answer>;
}
