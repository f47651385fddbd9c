import type { ChatFinishReason, ChatLogprob } from "../../sdk/schema/chat.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { StreamPart } from "../../sdk/schema/response-stream.ts";
import type { GenerateResult, TokenChunk } from "../onnx/engine-api.ts";
import { choiceSeed } from "../onnx/sample/seeded.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { Generator } from "./adapter-engines.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { Choice } from "./choice.ts";

/** News of one choice. The last of each has `finish`. */
export interface AnswerEvent {
  index: number;
  parts: StreamPart[];
  logprobs: ChatLogprob[];
  /** The tokens themselves; where `rawTokens` asks for them. */
  raw?: TokenChunk;
  finish?: AnswerEnd;
}

export interface AnswerEnd {
  reason: ChatFinishReason;
  /** Tokens generated. */
  tokens: number;
  /** Prompt tokens that were not read anew. */
  cachedTokens: number;
}

/**
 * Asks the engine for all choices of a request and gives what becomes known, a list at a time. Leaving the
 * loop, or aborting the signal, frees the engine's slots.
 *
 * @throws SpotterError as the engine throws it.
 */
export async function* answers(
  engine: Generator,
  text: TextModel,
  request: AnswerRequest,
  params: { seed: number; signal: AbortSignal; rawTokens?: boolean },
): AsyncGenerator<AnswerEvent[], void, void> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([params.signal, leaving.signal]);
  let news: AnswerEvent[] = [];
  let failure: unknown;
  let wake = (): void => undefined;
  const tell = (event: AnswerEvent): void => {
    news.push(event);
    wake();
  };
  const running = Array.from({ length: request.choices }, (_, index) =>
    answer(engine, text, request, { ...params, index, signal, tell }).catch((error: unknown) => {
      failure ??= error;
      wake();
    }),
  );
  let open = request.choices;
  try {
    while (open > 0) {
      if (news.length === 0 && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure as Error;
      const batch = news;
      news = [];
      open -= batch.filter(({ finish }) => finish !== undefined).length;
      yield batch;
    }
  } finally {
    leaving.abort();
    await Promise.all(running);
  }
}

interface ChoiceParams {
  index: number;
  /** Of the request. */
  seed: number;
  signal: AbortSignal;
  rawTokens?: boolean;
  tell: (event: AnswerEvent) => void;
}

async function answer(
  engine: Generator,
  text: TextModel,
  request: AnswerRequest,
  { index, seed, signal, rawTokens = false, tell }: ChoiceParams,
): Promise<void> {
  const choice = new Choice(request, text);
  const enough = new AbortController();
  const take = (chunk: TokenChunk): void => {
    const known = choice.tokens;
    const event = choice.push(chunk);
    const raw = rawTokens ? { raw: firstTokens(chunk, choice.tokens - known) } : {};
    if (rawTokens || event.parts.length > 0 || event.logprobs.length > 0) tell({ index, ...event, ...raw });
    if (choice.stopped) enough.abort();
  };
  // Tokens one by one cost messages; a whole answer that nothing can stop needs none of them early.
  const early = request.stream || request.stops.length > 0 || request.single === true;
  let reason: GenerateResult["finishReason"] = "stop";
  try {
    const result = await engine.generate(
      { ...request.generate, promptIds: promptOf(request, index), seed: choiceSeed(seed, index) },
      { signal: AbortSignal.any([signal, enough.signal]), ...(early ? { onTokens: take } : {}) },
    );
    if (!early) take(result);
    reason = result.finishReason;
  } catch (error) {
    // Cut off by a stop string or a call: what is there is the answer.
    const cutOff = choice.stopped && SpotterError.is(error) && error.code === "user_cancelled";
    if (!cutOff || signal.aborted) throw error;
  }
  const { parts, finish } = choice.end(reason);
  const { tokens, cachedTokens } = choice;
  tell({ index, parts, logprobs: [], finish: { reason: finish, tokens, cachedTokens } });
}

function promptOf({ prompts, choices }: AnswerRequest, index: number): number[] {
  return prompts[Math.floor((index * prompts.length) / choices)] ?? [];
}

/** What a chunk says of its first tokens; the others came after a stop string. */
function firstTokens(chunk: TokenChunk, count: number): TokenChunk {
  const { ids, logprobs, topLogprobs } = chunk;
  return {
    ...chunk,
    ids: ids.slice(0, count),
    logprobs: logprobs.slice(0, count),
    ...(topLogprobs && { topLogprobs: topLogprobs.slice(0, count) }),
  };
}
