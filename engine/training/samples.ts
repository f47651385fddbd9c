import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RewardRow, Rollout, Verdict } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import { rewardRowOf } from "../reward-row.ts";
import type { EngineApi, TrainSequence } from "../onnx/engine-api.ts";
import { addAnswer, addSaid, roomOf, writtenTokens, type Episode } from "./episode.ts";
import { seedOf } from "./seeds.ts";
import type { PromptCodec } from "./text.ts";
import type { World } from "./world.ts";

export interface SampleSettings {
  maxTokens: number;
  temperature: number;
  topP: number;
  topK: number;
  maxTurns: number;
  /** Longest conversation in tokens; absent: what the model takes. */
  contextTokens?: number | undefined;
}

/** One conversation to sample. `index` counts within the step, `group` is its prompt. */
export interface SampleRequest {
  index: number;
  group: number;
  row: DatasetRow;
  seed: number;
}

/** A finished conversation, exactly as sampled: nothing that the model wrote is tokenised again. */
export type Sample = Episode & { text: string };

export interface PlayParams {
  engine: Pick<EngineApi, "generate">;
  codec: PromptCodec;
  settings: SampleSettings;
  world: World;
  signal: AbortSignal;
}

/**
 * Plays all requests side by side, a turn at a time, and returns them in their order. Conversations that go on are
 * sampled together: what is sampled hangs on the requests and never on which tool answered first.
 */
export async function sampleAll(params: PlayParams, requests: readonly SampleRequest[]): Promise<Sample[]> {
  const { codec, settings, world } = params;
  const limitTokens = Math.min(settings.contextTokens ?? Infinity, codec.contextLength);
  const episodes = await world.begin(requests);
  let live = episodes.filter(({ fault }) => fault === undefined);
  for (let turn = 1; turn <= settings.maxTurns && live.length > 0; turn++) {
    await answerAll(params, live, turn, limitTokens);
    const goingOn = live.filter(({ finishReason }) => finishReason === "stop");
    const replies = await world.reply(goingOn);
    live = goingOn.filter((episode, index) => {
      const said = replies[index];
      if (said === undefined) return false;
      episode.messages.push(...said);
      const isLast = turn >= Math.min(settings.maxTurns, episode.maxTurns);
      return !isLast && addSaid(episode, codec, said, limitTokens);
    });
  }
  return episodes.map((episode) => Object.assign(episode, { text: codec.decode(episode.ids) }));
}

async function answerAll(
  { engine, codec, settings, signal }: PlayParams,
  live: readonly Episode[],
  turn: number,
  limitTokens: number,
): Promise<void> {
  const answers = await Promise.all(
    live.map((episode) =>
      engine.generate(
        {
          promptIds: [...episode.prompt.ids, ...episode.ids],
          maxNewTokens: Math.min(settings.maxTokens, answerRoom(episode, limitTokens)),
          temperature: settings.temperature,
          topP: settings.topP,
          topK: settings.topK,
          seed: turn === 1 ? episode.request.seed : seedOf(episode.request.seed, "turn", turn),
          stopIds: codec.stopIds,
        },
        { signal },
      ),
    ),
  );
  live.forEach((episode, index) => {
    const answer = answers[index];
    if (answer !== undefined) addAnswer(episode, codec, answer);
  });
}

/** What a reward function gets to see of a sample. */
export function judgedRowOf(sample: Sample): RewardRow {
  const { row } = sample.request;
  return {
    ...rewardRowOf(row, {
      response: sample.response,
      tokens: writtenTokens(sample),
      finishReason: sample.finishReason,
    }),
    messages: sample.messages,
    ...(row.environment === undefined ? {} : { environment: row.environment }),
    ...(row.rewards === undefined ? {} : { rewards: row.rewards }),
  };
}

/** One verdict a sample; one whose environment failed has none, and no reward is asked. */
export async function judgeAll(
  client: Pick<JobClient, "judge">,
  samples: readonly Sample[],
): Promise<Verdict[]> {
  const sound = samples.filter(({ fault }) => fault === undefined);
  const verdicts = await client.judge(sound.map(judgedRowOf));
  return samples.map((sample) => {
    const { fault, request } = sample;
    if (fault !== undefined)
      return { scores: {}, errors: { [request.row.environment ?? "environment"]: fault } };
    return verdicts[sound.indexOf(sample)] ?? { scores: {}, errors: {} };
  });
}

export function rolloutOf(step: number, sample: Sample, verdict: Verdict, advantage?: number): Rollout {
  const { request, prompt } = sample;
  const before = prompt.ids.map(() => 0);
  const { environment } = request.row;
  return {
    step,
    index: request.index,
    group: request.group,
    row: request.row.row,
    messages: sample.messages,
    ...(environment === undefined ? {} : { environment }),
    ...(sample.turns === 1 ? {} : { turns: sample.turns }),
    ...(sample.truncated ? { truncated: true } : {}),
    tokenIds: [...prompt.ids, ...sample.ids],
    mask: [...before, ...sample.mask],
    logprobs: [...before, ...sample.logprobs],
    text: sample.text,
    finishReason: sample.finishReason,
    verdict,
    ...(advantage === undefined ? {} : { advantage }),
  };
}

/** The same tokens, as the trainer wants them: only what the model wrote is learnt. */
export function sequenceOf(sample: Sample, advantage: number): TrainSequence {
  const before = sample.prompt.ids.map(() => 0);
  return {
    ids: [...sample.prompt.ids, ...sample.ids],
    mask: [...before, ...sample.mask],
    advantages: [...before, ...sample.mask.map((written) => written * advantage)],
    oldLogprobs: [...before, ...sample.logprobs],
  };
}

/** Log-probabilities of what the model wrote, as it wrote it. */
export function writtenLogprobs({ logprobs, mask }: Sample): number[] {
  return logprobs.filter((_, index) => mask[index] === 1);
}

function answerRoom(episode: Episode, limitTokens: number): number {
  const room = roomOf(episode, limitTokens);
  if (room > 0) return room;
  const { row } = episode.request;
  throw new SpotterError(
    "context_length_exceeded",
    `A prompt has ${episode.prompt.ids.length} tokens and a conversation may have ${limitTokens}: ` +
      JSON.stringify(row.environment === undefined ? row.prompt : row.row).slice(0, 200),
    { hint: "Shorten the prompt, raise contextTokens, or use a model with a longer context." },
  );
}
