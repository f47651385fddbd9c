import type { ChatFinishReason, ChatLogprob } from "../../sdk/schema/chat.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ResponsePart } from "../../sdk/schema/parse-response.ts";
import type { EngineApi, TokenChunk } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { Choice } from "./choice.ts";

/** News of one choice. The last of each has `finish` and the number of tokens generated. */
export interface AnswerEvent {
  index: number;
  parts: ResponsePart[];
  logprobs: ChatLogprob[];
  finish?: { reason: ChatFinishReason; tokens: number };
}

/**
 * Asks the engine for all choices of a request and gives what becomes known, a list at a time. Leaving the
 * loop, or aborting the signal, frees the engine's slots.
 *
 * @throws SpotterError as the engine throws it.
 */
export async function* answers(
  engine: EngineApi,
  text: TextModel,
  request: AnswerRequest,
  params: { seed: number; signal: AbortSignal },
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
    answer(engine, text, request, { index, seed: params.seed + index, signal, tell }).catch(
      (error: unknown) => {
        failure ??= error;
        wake();
      },
    ),
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
  seed: number;
  signal: AbortSignal;
  tell: (event: AnswerEvent) => void;
}

async function answer(
  engine: EngineApi,
  text: TextModel,
  request: AnswerRequest,
  { index, seed, signal, tell }: ChoiceParams,
): Promise<void> {
  const choice = new Choice(request, text);
  const enough = new AbortController();
  const take = (chunk: TokenChunk): void => {
    const event = choice.push(chunk);
    if (event.parts.length > 0 || event.logprobs.length > 0) tell({ index, ...event });
    if (choice.stopped) enough.abort();
  };
  // Tokens one by one cost messages; a whole answer without stop strings needs none of them early.
  const early = request.stream || request.stops.length > 0;
  let reason: "stop" | "length" = "stop";
  try {
    const result = await engine.generate(
      { ...request.generate, seed },
      { signal: AbortSignal.any([signal, enough.signal]), ...(early ? { onTokens: take } : {}) },
    );
    if (!early) take(result);
    reason = result.finishReason;
  } catch (error) {
    // Cut off by a stop string: what is there is the answer.
    const cutOff = choice.stopped && SpotterError.is(error) && error.code === "user_cancelled";
    if (!cutOff || signal.aborted) throw error;
  }
  const { parts, finish } = choice.end(reason);
  tell({ index, parts, logprobs: [], finish: { reason: finish, tokens: choice.tokens } });
}
