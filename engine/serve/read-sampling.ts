import type { ChatRequest } from "../../sdk/schema/chat.ts";
import type { GenerateRequest } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { RequestError } from "./request-error.ts";
import { readId } from "./token-id.ts";

/** Below this the most likely token is all that is left. */
const MIN_TEMPERATURE = 1e-3;

/** How a request wants to be answered. */
export interface Sampling {
  /** As the client named it. */
  model: string;
  /** What is asked of the engine, but for the prompt and the seed of each choice. */
  generate: Omit<GenerateRequest, "promptIds" | "seed">;
  /** Each is answered equally often, one after the other by index. */
  prompts: number[][];
  /** Absent: a new one for each request. */
  seed: number | undefined;
  /** Answers to all prompts together. */
  choices: number;
  stops: string[];
  logprobs: boolean;
  stream: boolean;
  includeUsage: boolean;
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
  | "min_p"
  | "presence_penalty"
  | "frequency_penalty"
  | "repetition_penalty"
  | "logit_bias"
  | "min_tokens"
  | "ignore_eos"
  | "stop_token_ids"
  | "n"
  | "seed"
  | "stop"
  | "logprobs"
  | "top_logprobs"
>;

/** How to answer, as chat and completion requests say it alike. Throws {@link RequestError}. */
export function readSampling(
  request: SamplingFields,
  prompts: number[][],
  text: TextModel,
  /** The field that holds the prompt. */
  param: "messages" | "prompt",
): Sampling {
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
  const promptTokens = Math.max(...prompts.map((ids) => ids.length));
  return {
    model: request.model,
    prompts,
    generate: {
      maxNewTokens: newTokens(request, promptTokens, text.contextLength, param),
      temperature: temperatureOf(request),
      ...keptTokens(request),
      ...adjustments(request, text.vocabularySize),
      ...(request.min_tokens ? { minNewTokens: request.min_tokens } : {}),
      stopIds: stopIdsOf(request, text),
      ...(topLogprobs > 0 ? { topLogprobs } : {}),
      ...(logprobs ? { modelLogprobs: true } : {}),
    },
    seed: request.seed ?? undefined,
    choices: (request.n ?? 1) * prompts.length,
    stops: typeof request.stop === "string" ? [request.stop] : (request.stop ?? []),
    logprobs,
    stream,
    includeUsage: request.stream_options?.include_usage ?? false,
  };
}

/** vLLM's `ignore_eos` and `stop_token_ids`. */
function stopIdsOf({ ignore_eos: ignore, stop_token_ids: more }: SamplingFields, text: TextModel): number[] {
  if (!ignore && !more?.length) return text.stopIds;
  const own = ignore ? [] : text.stopIds;
  return [...own, ...(more ?? []).map((id, at) => readId(id, text.vocabularySize, `stop_token_ids[${at}]`))];
}

/** Scores are divided by it: what is as good as 0 is 0, and not a number that overflows. */
function temperatureOf({ temperature }: SamplingFields): number {
  const given = temperature ?? 1;
  return given < MIN_TEMPERATURE ? 0 : given;
}

function keptTokens(request: SamplingFields): Pick<GenerateRequest, "topP" | "topK" | "minP"> {
  const { top_p: topP = 1, top_k: topK, min_p: minP } = request;
  return {
    // The smallest nucleus is the likeliest token, and 0 asks for no less.
    topP: topP === null ? 1 : Math.max(topP, Number.MIN_VALUE),
    topK: Math.max(topK ?? 0, 0),
    ...(minP ? { minP } : {}),
  };
}

type Adjustments = Pick<
  GenerateRequest,
  "presencePenalty" | "frequencyPenalty" | "repetitionPenalty" | "logitBias"
>;

function adjustments(request: SamplingFields, vocabularySize: number): Adjustments {
  const {
    presence_penalty: presence,
    frequency_penalty: frequency,
    repetition_penalty: repetition,
  } = request;
  const logitBias = Object.entries(request.logit_bias ?? {}).map(([token, bias]): [number, number] => {
    const id = Number(token);
    if (id < vocabularySize) return [id, bias];
    throw new RequestError(
      `Invalid 'logit_bias.${token}': this model's token ids go from 0 to ${vocabularySize - 1}.`,
      { code: "invalid_value", param: `logit_bias.${token}` },
    );
  });
  return {
    ...(presence ? { presencePenalty: presence } : {}),
    ...(frequency ? { frequencyPenalty: frequency } : {}),
    ...(repetition && repetition !== 1 ? { repetitionPenalty: repetition } : {}),
    ...(logitBias.length > 0 ? { logitBias } : {}),
  };
}

/** The room left in the context, or what was asked for where it fits. */
function newTokens(
  request: SamplingFields,
  promptTokens: number,
  contextLength: number,
  param: string,
): number {
  const { max_tokens: old, max_completion_tokens: current } = request;
  if (typeof old === "number" && typeof current === "number" && old !== current) {
    throw new RequestError(
      "'max_tokens' and 'max_completion_tokens' say different things; send one of them.",
      { code: "invalid_parameter_combination", param: "max_tokens" },
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
