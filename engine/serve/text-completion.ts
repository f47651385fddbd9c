import type { ChatFinishReason, ChatUsage } from "../../sdk/schema/chat.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { AnswerEvent } from "./answers.ts";
import type { AnswerHead } from "./chat-completion.ts";
import { CompletionLogprobsWriter, joinLogprobs, type CompletionLogprobs } from "./completion-logprobs.ts";
import type { CompletionPrompt } from "./completion-prompts.ts";
import type { CompletionRequest } from "./completion-request.ts";
import { UsageCounter } from "./usage.ts";

interface TextChoice {
  index: number;
  text: string;
  finish_reason: ChatFinishReason | null;
  logprobs: CompletionLogprobs | null;
}

export interface TextCompletion extends AnswerHead {
  object: "text_completion";
  choices: TextChoice[];
  usage?: ChatUsage | null;
}

type Events = AsyncGenerator<AnswerEvent[], void, void>;

/** The whole answer at once. */
export async function textCompletion(
  head: AnswerHead,
  request: CompletionRequest,
  text: TextModel,
  events: Events,
): Promise<TextCompletion> {
  const writers = choiceWriters(request, text);
  const said = writers.map((writer): TextChoice[] => writer.start());
  const counter = new UsageCounter(request);
  for await (const batch of events) {
    for (const event of batch) {
      counter.take(event);
      said[event.index]?.push(...(writers[event.index]?.take(event) ?? []));
    }
  }
  const choices = said.map((parts, index) => joined(parts, index, request));
  return { ...head, object: "text_completion", choices, usage: counter.usage() };
}

/** The answer in chunks, and usage if asked for. */
export async function* textChunks(
  head: AnswerHead,
  request: CompletionRequest,
  text: TextModel,
  events: Events,
): AsyncGenerator<TextCompletion[], void, void> {
  const nothing = request.includeUsage ? { usage: null } : {};
  const object = "text_completion" as const;
  const chunk = (choice: TextChoice): TextCompletion => ({ ...head, object, choices: [choice], ...nothing });
  const writers = choiceWriters(request, text);
  const counter = new UsageCounter(request);
  try {
    const started = writers.flatMap((writer) => writer.start());
    if (started.length > 0) yield started.map(chunk);
    for await (const batch of events) {
      for (const event of batch) counter.take(event);
      const choices = batch.flatMap((event) => writers[event.index]?.take(event) ?? []);
      if (choices.length > 0) yield choices.map(chunk);
    }
    if (request.includeUsage) yield [{ ...head, object, choices: [], usage: counter.usage() }];
  } finally {
    await events.return();
  }
}

function choiceWriters(request: CompletionRequest, text: TextModel): ChoiceWriter[] {
  return Array.from({ length: request.choices }, (_, index) => {
    const prompt = request.given[Math.floor((index * request.given.length) / request.choices)];
    return new ChoiceWriter(request, text, index, prompt ?? { text: () => "", ids: [] });
  });
}

/** Turns news of one choice into pieces of it. */
class ChoiceWriter {
  readonly #request: CompletionRequest;
  readonly #index: number;
  readonly #prompt: CompletionPrompt;
  readonly #logprobs: CompletionLogprobsWriter | undefined;

  constructor(request: CompletionRequest, text: TextModel, index: number, prompt: CompletionPrompt) {
    this.#request = request;
    this.#index = index;
    this.#prompt = prompt;
    if (request.alternatives !== undefined) this.#logprobs = new CompletionLogprobsWriter(text, request);
  }

  /** The echoed prompt, where it does not wait for its log-probabilities. */
  start(): TextChoice[] {
    if (!this.#request.echo || this.#logprobs !== undefined) return [];
    return [this.#piece(this.#prompt.text(), null)];
  }

  take({ parts, raw, finish }: AnswerEvent): TextChoice[] {
    const pieces: TextChoice[] = [];
    if (this.#request.echo && raw?.prompt !== undefined && this.#logprobs !== undefined)
      pieces.push(this.#piece(this.#prompt.text(), this.#logprobs.prompt(this.#prompt, raw.prompt)));
    const text = parts.map((part) => (part.type === "content" ? part.text : "")).join("");
    const logprobs = raw && raw.ids.length > 0 ? (this.#logprobs?.answer(raw) ?? null) : null;
    if (text === "" && logprobs === null && finish === undefined) return pieces;
    return [...pieces, { ...this.#piece(text, logprobs), finish_reason: finish?.reason ?? null }];
  }

  #piece(text: string, logprobs: CompletionLogprobs | null): TextChoice {
    return { index: this.#index, text, finish_reason: null, logprobs };
  }
}

function joined(parts: readonly TextChoice[], index: number, request: CompletionRequest): TextChoice {
  const logprobs = parts.flatMap((part) => part.logprobs ?? []);
  return {
    index,
    text: parts.map((part) => part.text).join(""),
    finish_reason: parts.at(-1)?.finish_reason ?? "stop",
    logprobs: request.alternatives === undefined ? null : joinLogprobs(logprobs),
  };
}
