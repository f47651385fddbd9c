import type { EvalJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import { writtenTokens } from "../training/episode.ts";
import type { RowToolCalls } from "../training/python-judge.ts";
import { sampleAll, type SampleSettings } from "../training/samples.ts";
import type { PromptCodec } from "../training/text.ts";
import { createWorld } from "../training/world.ts";
import { isOwnFault } from "./own-fault.ts";
import { unplayed, type Play, type Played } from "./played.ts";
import type { Question } from "./questions.ts";
import { rolloutOf } from "./rollout-of.ts";

export interface EnginePlayParams {
  job: EvalJob;
  engine: Pick<EngineApi, "generate">;
  codec: PromptCodec;
  client: Pick<JobClient, "callEnvironments"> & { callTools: RowToolCalls };
  signal: AbortSignal;
}

/** Plays conversations with the engine of this container, token for token as a training does. */
export function createEnginePlay({ job, engine, codec, client, signal }: EnginePlayParams): Play {
  const world = createWorld({ job, rollout: rolloutOf(job.spec), codec, client });
  return async (question) => {
    signal.throwIfAborted();
    const settings = samplingOf(job, question.temperature, codec.contextLength);
    try {
      return await playOne({ engine, codec, settings, world, signal }, question);
    } catch (error) {
      signal.throwIfAborted();
      if (isOwnFault(error)) return unplayed(error);
      throw error;
    }
  };
}

async function playOne(
  params: Parameters<typeof sampleAll>[0],
  { number, row, seed }: Question,
): Promise<Played> {
  const [sample] = await sampleAll(params, [{ index: number, group: number, row, seed }]);
  if (sample === undefined) throw new RangeError("A conversation was not played.");
  if (sample.fault !== undefined) return unplayed(sample.fault);
  const { response, finishReason, messages, turns, truncated, cutAnswers } = sample;
  return { response, finishReason, messages, turns, truncated, cutAnswers, tokens: writtenTokens(sample) };
}

/** What chat options say, with the defaults of an endpoint. */
export function samplingOf(
  { spec: { chatOptions, rollout } }: Pick<EvalJob, "spec">,
  temperature: number | undefined,
  contextLength: number,
): SampleSettings {
  const number = (key: string) => {
    const value = chatOptions[key];
    return typeof value === "number" ? value : undefined;
  };
  return {
    ...rollout,
    maxTokens: number("max_completion_tokens") ?? number("max_tokens") ?? contextLength,
    temperature: temperature ?? number("temperature") ?? 1,
    topP: number("top_p") ?? 1,
    topK: Math.max(0, number("top_k") ?? 0),
  };
}

/** What the chat template is given. */
export function templateVariables({ spec: { chatOptions } }: Pick<EvalJob, "spec">): Record<string, unknown> {
  const given = chatOptions["chat_template_kwargs"];
  return typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
}
