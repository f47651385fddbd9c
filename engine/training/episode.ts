import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ChatMessage, ParsedResponse } from "../../sdk/schema/rollout.ts";
import { assistantMessage } from "../reward-row.ts";
import type { GenerateResult } from "../onnx/engine-api.ts";
import type { SampleRequest } from "./samples.ts";
import type { Prompt, PromptCodec } from "./text.ts";
import { hasThought, withoutThinking } from "./thinking.ts";

/** Why an episode has no verdict: its environment failed, or its time was over. */
export interface Fault {
  code: string;
  message: string;
  /** Whose fault it is. Default: the environment's. */
  where?: string;
}

/** What the model saw in one piece, token for token, and wrote there. */
export interface Branch {
  prompt: Prompt;
  /** Everything after the prompt. */
  ids: number[];
  /** 1 where the model wrote it. */
  mask: number[];
  logprobs: number[];
}

/** A conversation under way; where it stands now is the last of its branches. */
export interface Episode extends Branch {
  readonly request: SampleRequest;
  /** What the model is told of the tools it may call. */
  readonly tools: readonly unknown[];
  /** What the model saw and wrote before its thinking was taken out of the conversation. */
  readonly earlier: Branch[];
  messages: ChatMessage[];
  /** The text before the answer that comes next. */
  before: string;
  response: ParsedResponse;
  finishReason: "stop" | "length";
  turns: number;
  /** Answers at most. */
  readonly maxTurns: number;
  /** There was no room, or no time, for another answer. */
  truncated: boolean;
  /** Answers of tools that were cut. */
  cutAnswers: number;
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
    messages: [...messages],
    earlier: [],
    ...newBranch(prompt),
    before: prompt.text,
    response: NOTHING,
    finishReason: "stop",
    turns: 0,
    maxTurns,
    truncated: false,
    cutAnswers: 0,
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

/** How conversations go on. */
export interface GoingOn {
  /** Tokens of a conversation at most. */
  limitTokens: number;
  /** Whether the model sees again what it thought before earlier answers. */
  includeThinking: boolean;
}

/**
 * Takes in what the world said, up to where the model answers again. Where earlier thinking is not kept and there was
 * some, a new branch begins: the conversation without it. False: there was no room for it.
 */
export function addSaid(
  episode: Episode,
  codec: PromptCodec,
  said: readonly ChatMessage[],
  going: GoingOn,
): boolean {
  episode.messages.push(...said);
  const goesOn = dropsThinking(episode, going)
    ? beginBranch(episode, codec, going)
    : continueBranch(episode, codec, said, going);
  if (!goesOn) episode.truncated = true;
  return goesOn;
}

/** How many tokens more the conversation may have, once it goes on. */
export function roomAhead(episode: Episode, codec: PromptCodec, going: GoingOn): number {
  if (!dropsThinking(episode, going)) return roomOf(episode, going.limitTokens);
  return going.limitTokens - (nextPrompt(episode, codec)?.ids.length ?? Infinity);
}

/** A row without the chat template is one text that goes on, in which nothing can be taken out. */
function dropsThinking({ request, messages }: Episode, { includeThinking }: GoingOn): boolean {
  return !includeThinking && request.row.chatTemplate !== false && messages.some(hasThought);
}

function beginBranch(episode: Episode, codec: PromptCodec, { limitTokens }: GoingOn): boolean {
  const prompt = nextPrompt(episode, codec);
  if (prompt === undefined || prompt.ids.length >= limitTokens) return false;
  const { prompt: seen, ids, mask, logprobs } = episode;
  episode.earlier.push({ prompt: seen, ids, mask, logprobs });
  episode.messages = withoutThinking(episode.messages);
  Object.assign(episode, newBranch(prompt), { before: prompt.text });
  return true;
}

function continueBranch(
  episode: Episode,
  codec: PromptCodec,
  said: readonly ChatMessage[],
  { limitTokens }: GoingOn,
): boolean {
  const ended = codec.stopIds.includes(episode.ids.at(-1) ?? -1);
  const next = codec.continuation(said, ended, episode.tools);
  if (next.ids.length >= roomOf(episode, limitTokens)) return false;
  append(
    episode,
    next.ids,
    0,
    next.ids.map(() => 0),
  );
  episode.before = next.text;
  return true;
}

/** Undefined where the model does not take as much. */
function nextPrompt({ messages, tools }: Episode, codec: PromptCodec): Prompt | undefined {
  try {
    return codec.conversation(withoutThinking(messages), tools);
  } catch (error) {
    if (SpotterError.is(error) && error.code === "context_length_exceeded") return undefined;
    throw error;
  }
}

function newBranch(prompt: Prompt): Branch {
  return { prompt, ids: [], mask: [], logprobs: [] };
}

/** All that the model saw in one piece each, in order. */
export function branchesOf(episode: Episode): Branch[] {
  return [...episode.earlier, episode];
}

/** How many tokens the model wrote. */
export function writtenTokens(episode: Episode): number {
  return branchesOf(episode).reduce(
    (sum, { mask }) => sum + mask.reduce((written, each) => written + each, 0),
    0,
  );
}

function append(episode: Episode, ids: number[], mask: 0 | 1, logprobs: number[]): void {
  episode.ids.push(...ids);
  episode.mask.push(...ids.map(() => mask));
  episode.logprobs.push(...logprobs);
}
