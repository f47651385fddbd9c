import * as z from "zod/mini";
import { chatRequest } from "../../sdk/schema/chat.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { checkBody } from "./check-body.ts";
import { readPrompts, type CompletionPrompt } from "./completion-prompts.ts";
import { readSampling } from "./read-sampling.ts";
import { RequestError } from "./request-error.ts";

const { messages: _messages, top_logprobs: _top, ...sampling } = chatRequest.shape;

const tokens = z.optional(z.nullable(z.number().check(z.int(), z.gte(0))));

/** `POST /v1/completions`; prompts are read apart, for what is wrong is in one of thousands of elements. */
const completionRequest = z.looseObject({
  ...sampling,
  prompt: z.unknown(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  logprobs: z.optional(z.nullable(z.number().check(z.int(), z.gte(0), z.lte(20)))),
  echo: z.optional(z.nullable(z.boolean())),
  best_of: z.optional(z.nullable(z.number().check(z.int(), z.gt(0)))),
  suffix: z.optional(z.nullable(z.string())),
  return_tokens_as_token_ids: z.optional(z.nullable(z.boolean())),
});

export interface CompletionRequest extends AnswerRequest {
  /** Begin each answer with its prompt. */
  echo: boolean;
  /** As the client gave them, as many as `prompts`. */
  given: CompletionPrompt[];
  /** Alternatives to report for each token; undefined: no log-probabilities at all. */
  alternatives: number | undefined;
  /** Write tokens as `token_id:7`, which is exact, and not as their text. */
  tokensAsIds: boolean;
}

const DEFAULT_MAX_TOKENS = 16;
/** Bounds what one request can queue. */
const MAX_CHOICES = 1024;

/** Checks a completion request and encodes its prompts. Throws {@link RequestError}. */
export function readCompletionRequest(body: unknown, text: TextModel): CompletionRequest {
  const request = checkBody(completionRequest, body);
  refuseUnsupported(request);
  const given = readPrompts(request.prompt, text);
  const prompts = given.map(({ ids }) => ids);
  const echo = request.echo ?? false;
  const alternatives = request.logprobs ?? undefined;
  const asked = request.max_tokens ?? request.max_completion_tokens;
  const room = text.contextLength - Math.max(...prompts.map((ids) => ids.length));
  const fields = {
    ...request,
    logprobs: alternatives !== undefined,
    max_tokens: asked ?? Math.max(Math.min(DEFAULT_MAX_TOKENS, room), 1),
  };
  const common = readSampling(fields, prompts, text, "prompt");
  if (common.choices > MAX_CHOICES) {
    throw new RequestError(`Invalid 'n': ${common.choices} answers, at most ${MAX_CHOICES} in one request.`, {
      code: "integer_above_max_value",
      param: "n",
    });
  }
  return {
    ...common,
    generate: {
      ...common.generate,
      ...(alternatives ? { topLogprobs: alternatives } : {}),
      ...(echo && alternatives !== undefined ? { promptLogprobs: alternatives } : {}),
    },
    echo,
    given,
    alternatives,
    tokensAsIds: request.return_tokens_as_token_ids ?? false,
    family: "plain",
    tools: false,
    startsInReasoning: false,
  };
}

/** What would change the answer and is not there must be refused, not ignored. */
function refuseUnsupported(request: z.infer<typeof completionRequest>): void {
  if (request.suffix) {
    throw unsupported("suffix", "this engine completes at the end only; leave it out");
  }
  const n = request.n ?? 1;
  if (request.best_of && request.best_of !== n) {
    throw unsupported(
      "best_of",
      `this engine gives every answer it makes; ask for them with 'n' (${n} here)`,
    );
  }
  const format = request.response_format?.type ?? "text";
  if (format !== "text") {
    throw unsupported("response_format", "it belongs to /v1/chat/completions");
  }
}

function unsupported(param: string, why: string): RequestError {
  return new RequestError(`Unsupported value for '${param}': ${why}.`, { code: "unsupported_value", param });
}
