import * as z from "zod/mini";
import { chatRequest, type ChatFinishReason, type ChatUsage } from "../../sdk/schema/chat.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { encodePrompt, readSampling, type AnswerRequest } from "./answer-request.ts";
import type { AnswerEvent } from "./answers.ts";
import { usage, type AnswerHead } from "./chat-completion.ts";
import { checkBody } from "./check-body.ts";
import { RequestError } from "./request-error.ts";

const { messages: _messages, logprobs: _logprobs, ...sampling } = chatRequest.shape;

/** `POST /v1/completions`: one prompt, as text or as token ids. */
const completionRequest = z.looseObject({
  ...sampling,
  prompt: z.union([z.string(), z.array(z.int().check(z.nonnegative())).check(z.minLength(1))]),
});

const DEFAULT_MAX_TOKENS = 16;

interface TextChoice {
  index: number;
  text: string;
  finish_reason: ChatFinishReason | null;
  logprobs: null;
}

export interface TextCompletion extends AnswerHead {
  object: "text_completion";
  choices: TextChoice[];
  usage?: ChatUsage | null;
}

export function readCompletionRequest(body: unknown, text: TextModel): AnswerRequest {
  const { prompt, ...request } = checkBody(completionRequest, body);
  if (request["logprobs"] || request["echo"]) {
    throw new RequestError("'logprobs' and 'echo' are not supported here; use /v1/chat/completions.", {
      code: "unsupported_value",
      param: request["echo"] ? "echo" : "logprobs",
    });
  }
  const promptIds =
    typeof prompt === "string" ? encodePrompt(prompt, text, "prompt", "encodeDocument") : prompt;
  const fields = { ...request, logprobs: null, max_tokens: request.max_tokens ?? DEFAULT_MAX_TOKENS };
  return {
    ...readSampling(fields, promptIds, text, "prompt"),
    family: "plain",
    tools: false,
    startsInReasoning: false,
  };
}

export async function textCompletion(
  head: AnswerHead,
  request: AnswerRequest,
  events: AsyncGenerator<AnswerEvent[], void, void>,
): Promise<TextCompletion> {
  const choices = Array.from({ length: request.choices }, (_, index) => choice(index, "", "stop"));
  let tokens = 0;
  for await (const batch of events) {
    for (const event of batch) {
      const target = choices[event.index];
      if (target === undefined) continue;
      target.text += textOf(event);
      target.finish_reason = event.finish?.reason ?? target.finish_reason;
      tokens += event.finish?.tokens ?? 0;
    }
  }
  return { ...head, object: "text_completion", choices, usage: usage(request, tokens) };
}

export async function* textChunks(
  head: AnswerHead,
  request: AnswerRequest,
  events: AsyncGenerator<AnswerEvent[], void, void>,
): AsyncGenerator<TextCompletion[], void, void> {
  const nothing = request.includeUsage ? { usage: null } : {};
  const object = "text_completion" as const;
  let tokens = 0;
  try {
    for await (const batch of events) {
      tokens += batch.reduce((sum, { finish }) => sum + (finish?.tokens ?? 0), 0);
      yield batch.map((event) => ({
        ...head,
        object,
        choices: [choice(event.index, textOf(event), event.finish?.reason ?? null)],
        ...nothing,
      }));
    }
    if (request.includeUsage) yield [{ ...head, object, choices: [], usage: usage(request, tokens) }];
  } finally {
    await events.return();
  }
}

function choice(index: number, text: string, reason: ChatFinishReason | null): TextChoice {
  return { index, text, finish_reason: reason, logprobs: null };
}

function textOf({ parts }: AnswerEvent): string {
  return parts.map((part) => (part.type === "content" ? part.text : "")).join("");
}
