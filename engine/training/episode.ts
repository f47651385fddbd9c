import type { ChatMessage, ParsedResponse } from "../../sdk/schema/rollout.ts";
import { assistantMessage } from "../reward-row.ts";
import type { GenerateResult } from "../onnx/engine-api.ts";
import type { SampleRequest } from "./samples.ts";
import type { Prompt, PromptCodec } from "./text.ts";

/** Why an episode has no verdict: its environment failed. */
export interface Fault {
  code: string;
  message: string;
}

/** A conversation under way, token for token as the model saw and wrote it. */
export interface Episode {
  readonly request: SampleRequest;
  /** What the model is told of the tools it may call. */
  readonly tools: readonly unknown[];
  readonly prompt: Prompt;
  messages: ChatMessage[];
  /** Everything after the prompt. */
  ids: number[];
  /** 1 where the model wrote it. */
  mask: number[];
  logprobs: number[];
  /** The text before the answer that comes next. */
  before: string;
  response: ParsedResponse;
  finishReason: "stop" | "length";
  turns: number;
  /** Answers at most. */
  readonly maxTurns: number;
  truncated: boolean;
  /** Of the environment, handed from turn to turn. */
  state: unknown;
  fault?: Fault;
}

export interface EpisodeStart {
  request: SampleRequest;
  prompt: Prompt;
  messages: readonly ChatMessage[];
  tools: readonly unknown[];
  maxTurns?: number | undefined;
  state?: unknown;
  fault?: Fault;
}

const NOTHING: ParsedResponse = { content: "", reasoning: "", toolCalls: [] };

export function startEpisode({
  messages,
  prompt,
  state,
  maxTurns = Infinity,
  ...rest
}: EpisodeStart): Episode {
  return {
    ...rest,
    prompt,
    messages: [...messages],
    ids: [],
    mask: [],
    logprobs: [],
    before: prompt.text,
    response: NOTHING,
    finishReason: "stop",
    turns: 0,
    maxTurns,
    truncated: false,
    state,
  };
}

/** How many tokens more the conversation may have. */
export function roomOf({ prompt, ids }: Episode, limitTokens: number): number {
  return limitTokens - prompt.ids.length - ids.length;
}

/** Takes in what the model wrote. Calls without an id get one, so that answers can name them. */
export function addAnswer(episode: Episode, codec: PromptCodec, answer: GenerateResult): void {
  const response = codec.parseAfter(episode.before, codec.decode(answer.ids));
  episode.turns++;
  episode.response = {
    ...response,
    toolCalls: response.toolCalls.map((call, index) => ({
      ...call,
      id: call.id ?? `call_${episode.turns}_${index + 1}`,
    })),
  };
  episode.messages.push(assistantMessage(episode.response));
  append(episode, answer.ids, 1, answer.logprobs);
  episode.finishReason = answer.finishReason;
}

/** Takes in what the world said, up to where the model answers again. False: there was no room for it. */
export function addSaid(
  episode: Episode,
  codec: PromptCodec,
  said: readonly ChatMessage[],
  limitTokens: number,
): boolean {
  const ended = codec.stopIds.includes(episode.ids.at(-1) ?? -1);
  const next = codec.continuation(said, ended, episode.tools);
  if (next.ids.length >= roomOf(episode, limitTokens)) {
    episode.truncated = true;
    return false;
  }
  append(
    episode,
    next.ids,
    0,
    next.ids.map(() => 0),
  );
  episode.before = next.text;
  return true;
}

/** How many tokens the model wrote. */
export function writtenTokens({ mask }: Pick<Episode, "mask">): number {
  return mask.reduce((sum, each) => sum + each, 0);
}

function append(episode: Episode, ids: number[], mask: 0 | 1, logprobs: number[]): void {
  episode.ids.push(...ids);
  episode.mask.push(...ids.map(() => mask));
  episode.logprobs.push(...logprobs);
}
