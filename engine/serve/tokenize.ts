import * as z from "zod/mini";
import { chatRequest } from "../../sdk/schema/chat.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { encodePrompt } from "./answer-request.ts";
import { checkBody } from "./check-body.ts";
import { flattenMessages } from "./flatten-messages.ts";
import { RequestError } from "./request-error.ts";
import { refuseDeep } from "./too-deep.ts";
import { readId } from "./token-id.ts";

const flag = z.optional(z.nullable(z.boolean()));

const tokenizeRequest = z.looseObject({
  model: z.optional(z.nullable(z.string())),
  prompt: z.optional(z.nullable(z.string())),
  messages: z.optional(z.nullable(chatRequest.shape.messages)),
  tools: chatRequest.shape.tools,
  chat_template_kwargs: chatRequest.shape.chat_template_kwargs,
  chat_template: z.optional(z.nullable(z.string())),
  add_special_tokens: flag,
  add_generation_prompt: flag,
  continue_final_message: flag,
  return_token_strs: flag,
});
type TokenizeRequest = z.infer<typeof tokenizeRequest>;

const detokenizeRequest = z.looseObject({
  model: z.optional(z.nullable(z.string())),
  tokens: z.array(z.unknown()),
});

/** More than any context; decoding holds up every other answer. */
const MAX_TOKENS = 2 ** 18;

export interface Tokenized {
  count: number;
  /** The model's context length. */
  max_model_len: number;
  tokens: number[];
  /** Where `return_token_strs` asks for them. */
  token_strs: string[] | null;
}

/**
 * `POST /tokenize`, in the shapes of vLLM (vllm/entrypoints/serve/tokenize/protocol.py): the tokens of a
 * `prompt` as `/v1/completions` would read it, or of `messages` as chat would.
 *
 * @throws RequestError or SpotterError `chat_template_failed`.
 */
export function tokenize(body: unknown, text: TextModel): Tokenized {
  const request = checkBody(tokenizeRequest, body);
  const tokens = request.messages ? chatTokens(request, text) : promptTokens(request, text);
  return {
    count: tokens.length,
    max_model_len: text.contextLength,
    tokens,
    token_strs: request.return_token_strs
      ? tokens.map((id) => new TextDecoder().decode(text.tokenizer.bytesOf(id)))
      : null,
  };
}

/** `POST /detokenize`: the text of token ids, control tokens included. Throws {@link RequestError}. */
export function detokenize(body: unknown, text: TextModel): { prompt: string } {
  const { tokens } = checkBody(detokenizeRequest, body);
  if (tokens.length > MAX_TOKENS) {
    throw new RequestError(`Invalid 'tokens': at most ${MAX_TOKENS} in one request.`, {
      code: "array_above_max_length",
      param: "tokens",
    });
  }
  const ids = tokens.map((id, index) => readId(id, text.vocabularySize, `tokens[${index}]`));
  return { prompt: text.tokenizer.decode(ids, { special: true }) };
}

function promptTokens(request: TokenizeRequest, text: TextModel): number[] {
  if (typeof request.prompt !== "string") {
    throw new RequestError("Missing required parameter: 'prompt', or 'messages' of a chat.", {
      code: "missing_required_parameter",
      param: "prompt",
    });
  }
  const encode = (request.add_special_tokens ?? true) ? "encodeDocument" : "encode";
  return encodePrompt(request.prompt, text, "prompt", encode);
}

function chatTokens(request: TokenizeRequest, text: TextModel): number[] {
  if (request.continue_final_message) throw unsupported("continue_final_message");
  if (request.chat_template) throw unsupported("chat_template");
  if (text.chatTemplate === undefined) {
    throw new RequestError("This model has no chat template; send a 'prompt'.", { param: "messages" });
  }
  refuseDeep(request);
  const prompt = text.chatTemplate.render(flattenMessages(request.messages ?? []), {
    tools: request.tools,
    variables: request.chat_template_kwargs,
    addGenerationPrompt: request.add_generation_prompt ?? true,
  });
  const encode = (request.add_special_tokens ?? false) ? "encodeDocument" : "encode";
  return encodePrompt(prompt, text, "messages", encode);
}

function unsupported(param: string): RequestError {
  return new RequestError(`'${param}' is not supported here; leave it out.`, {
    code: "unsupported_value",
    param,
  });
}
