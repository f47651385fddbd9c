import { chatRequest, type ChatRequest } from "../../sdk/schema/chat.ts";
import type { ResponseFamily } from "../../sdk/schema/parse-response.ts";
import type { GenerateRequest } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { checkBody } from "./check-body.ts";
import { flattenMessages } from "./flatten-messages.ts";
import { RequestError } from "./request-error.ts";

/** Below this the most likely token is all that is left. */
const MIN_TEMPERATURE = 1e-3;

/** A chat or completion request as the engine is asked. */
export interface AnswerRequest {
  /** As the client named it. */
  model: string;
  /** What is asked of the engine, but for the seed of each choice. */
  generate: Omit<GenerateRequest, "seed">;
  /** Absent: a new one for each request. */
  seed: number | undefined;
  choices: number;
  stops: string[];
  logprobs: boolean;
  stream: boolean;
  includeUsage: boolean;
  family: ResponseFamily;
  /** Take tool calls out of the text. */
  tools: boolean;
  /** The prompt ends inside the reasoning. */
  startsInReasoning: boolean;
}

/** Checks a chat request and renders its prompt. Throws {@link RequestError} or SpotterError. */
export function readChatRequest(body: unknown, text: TextModel): AnswerRequest {
  const request = checkBody(chatRequest, body);
  refuseUnsupported(request);
  if (text.chatTemplate === undefined) {
    throw new RequestError("This model has no chat template; use /v1/completions.", { param: "messages" });
  }
  const tools = request.tool_choice === "none" ? undefined : request.tools;
  const prompt = text.chatTemplate.render(flattenMessages(request.messages), {
    tools,
    variables: request.chat_template_kwargs,
  });
  return {
    ...readSampling(request, encodePrompt(prompt, text, "messages"), text, "messages"),
    family: text.responseFamily,
    tools: (tools?.length ?? 0) > 0,
    startsInReasoning: prompt.trimEnd().endsWith("<think>"),
  };
}

/** Token ids of a rendered prompt; what cannot fit is refused before the work of encoding it. */
export function encodePrompt(
  prompt: string,
  { tokenizer, contextLength }: TextModel,
  param: string,
  encode: "encode" | "encodeDocument" = "encode",
): number[] {
  if (tokenizer.mayFit(prompt, contextLength)) return tokenizer[encode](prompt);
  throw new RequestError(
    `This model's maximum context length is ${contextLength} tokens, and the prompt of ` +
      `${Buffer.byteLength(prompt)} bytes has far more. Shorten it.`,
    { code: "context_length_exceeded", param },
  );
}

/** The fields chat and completion requests share. */
export type SamplingFields = Pick<
  ChatRequest,
  | "model"
  | "stream"
  | "stream_options"
  | "max_tokens"
  | "max_completion_tokens"
  | "temperature"
  | "top_p"
  | "top_k"
  | "n"
  | "seed"
  | "stop"
  | "logprobs"
  | "top_logprobs"
>;

export function readSampling(
  request: SamplingFields,
  promptIds: number[],
  text: TextModel,
  /** The field that holds the prompt. */
  param: "messages" | "prompt",
): Omit<AnswerRequest, "family" | "tools" | "startsInReasoning"> {
  const stream = request.stream ?? false;
  if (request.stream_options && !stream) {
    throw new RequestError("The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: "stream_options",
    });
  }
  const logprobs = request.logprobs ?? false;
  if (request.top_logprobs && !logprobs) {
    throw new RequestError("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", {
      param: "top_logprobs",
    });
  }
  const topLogprobs = request.top_logprobs ?? 0;
  return {
    model: request.model,
    generate: {
      promptIds,
      maxNewTokens: newTokens(request, promptIds.length, text.contextLength, param),
      temperature: temperatureOf(request),
      topP: request.top_p ?? 1,
      topK: Math.max(request.top_k ?? 0, 0),
      stopIds: text.stopIds,
      ...(topLogprobs > 0 ? { topLogprobs } : {}),
    },
    seed: request.seed ?? undefined,
    choices: request.n ?? 1,
    stops: typeof request.stop === "string" ? [request.stop] : (request.stop ?? []),
    logprobs,
    stream,
    includeUsage: request.stream_options?.include_usage ?? false,
  };
}

/** Scores are divided by it: what is as good as 0 is 0, and not a number that overflows. */
function temperatureOf({ temperature }: SamplingFields): number {
  const given = temperature ?? 1;
  return given < MIN_TEMPERATURE ? 0 : given;
}

/** The room left in the context, or what was asked for where it fits. */
function newTokens(
  request: SamplingFields,
  promptTokens: number,
  contextLength: number,
  param: string,
): number {
  const { max_tokens: old, max_completion_tokens: current } = request;
  if (old && current && old !== current) {
    throw new RequestError(
      "'max_tokens' and 'max_completion_tokens' say different things; send one of them.",
      {
        code: "invalid_parameter_combination",
        param: "max_tokens",
      },
    );
  }
  const room = contextLength - promptTokens;
  const wanted = current ?? old ?? Math.max(room, 1);
  if (wanted <= room) return wanted;
  throw new RequestError(
    `This model's maximum context length is ${contextLength} tokens. The prompt has ${promptTokens} and ` +
      `the answer may have ${wanted}. Shorten the prompt or the answer.`,
    { code: "context_length_exceeded", param },
  );
}

/** What would change the answer and is not there must be refused, not ignored. */
function refuseUnsupported(request: ChatRequest & Record<string, unknown>): void {
  const { tool_choice: choice, response_format: format } = request;
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none") {
    throw unsupported("tool_choice", "this engine cannot force a tool call; use 'auto' or 'none'");
  }
  const formatType = format?.type ?? "text";
  if (formatType !== "text") {
    throw unsupported("response_format", `this engine cannot force ${JSON.stringify(formatType)}`);
  }
  for (const name of ["presence_penalty", "frequency_penalty"]) {
    if (request[name]) throw unsupported(name, "this engine has no penalties; send 0");
  }
  const bias = request["logit_bias"];
  if (typeof bias === "object" && bias !== null && Object.keys(bias).length > 0) {
    throw unsupported("logit_bias", "this engine has no logit bias");
  }
}

function unsupported(param: string, why: string): RequestError {
  return new RequestError(`Unsupported value for '${param}': ${why}.`, { code: "unsupported_value", param });
}
