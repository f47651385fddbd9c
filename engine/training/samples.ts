import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ChatMessage, ParsedResponse, RewardRow, Rollout, Verdict } from "../../sdk/schema/rollout.ts";
import { assistantMessage, rewardRowOf } from "../reward-row.ts";
import type { EngineApi, TrainSequence } from "../onnx/engine-api.ts";
import type { PromptCodec } from "./text.ts";

export interface SampleSettings {
  maxTokens: number;
  temperature: number;
  topP: number;
  topK: number;
}

/** One answer to sample. `index` counts within the step, `group` is its prompt. */
export interface SampleRequest {
  index: number;
  group: number;
  row: DatasetRow;
  promptIds: number[];
  seed: number;
}

/** An answer exactly as sampled: nothing is tokenised again. */
export interface Sample extends SampleRequest {
  /** The completion, with the token that ended it. */
  ids: number[];
  logprobs: number[];
  text: string;
  response: ParsedResponse;
  finishReason: "stop" | "length";
}

/** Samples all requests side by side and returns them in the order of the requests, whatever ends first. */
export async function sampleAll(
  engine: EngineApi,
  codec: PromptCodec,
  settings: SampleSettings,
  requests: readonly SampleRequest[],
  signal: AbortSignal,
): Promise<Sample[]> {
  return Promise.all(
    requests.map(async (request) => {
      const { ids, logprobs, finishReason } = await engine.generate(
        {
          promptIds: request.promptIds,
          maxNewTokens: roomFor(request, settings.maxTokens, codec.contextLength),
          temperature: settings.temperature,
          topP: settings.topP,
          topK: settings.topK,
          seed: request.seed,
          stopIds: codec.stopIds,
        },
        { signal },
      );
      const text = codec.decode(ids);
      return { ...request, ids, logprobs, finishReason, text, response: codec.parse(request.row, text) };
    }),
  );
}

/** What a reward function gets to see of a sample. */
export function judgedRowOf(sample: Sample): RewardRow {
  return rewardRowOf(sample.row, {
    response: sample.response,
    tokens: sample.ids.length,
    finishReason: sample.finishReason,
  });
}

export function rolloutOf(step: number, sample: Sample, verdict: Verdict, advantage?: number): Rollout {
  const before = sample.promptIds.map(() => 0);
  return {
    step,
    index: sample.index,
    group: sample.group,
    row: sample.row.row,
    messages: [...(sample.row.prompt as ChatMessage[]), assistantMessage(sample.response)],
    tokenIds: [...sample.promptIds, ...sample.ids],
    mask: [...before, ...sample.ids.map(() => 1)],
    logprobs: [...before, ...sample.logprobs],
    text: sample.text,
    finishReason: sample.finishReason,
    verdict,
    ...(advantage === undefined ? {} : { advantage }),
  };
}

/** The same tokens, as the trainer wants them. */
export function sequenceOf(sample: Sample, advantage: number): TrainSequence {
  const before = sample.promptIds.map(() => 0);
  return {
    ids: [...sample.promptIds, ...sample.ids],
    mask: [...before, ...sample.ids.map(() => 1)],
    advantages: [...before, ...sample.ids.map(() => advantage)],
    oldLogprobs: [...before, ...sample.logprobs],
  };
}

function roomFor({ promptIds, row }: SampleRequest, maxTokens: number, contextLength: number): number {
  const room = contextLength - promptIds.length;
  if (room > 0) return Math.min(maxTokens, room);
  throw new SpotterError(
    "context_length_exceeded",
    `A prompt has ${promptIds.length} tokens and the model takes ${contextLength}: ${JSON.stringify(row.prompt).slice(0, 200)}`,
    { hint: "Shorten the prompt, or use a model with a longer context." },
  );
}
