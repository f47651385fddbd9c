import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RewardRow, Rollout, RolloutTokens, Verdict } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import { rewardRowOf } from "../reward-row.ts";
import type { EngineApi, TrainSequence } from "../onnx/engine-api.ts";
import { timerMs } from "../../sdk/schema/timer-ms.ts";
import {
  addAnswer,
  addSaid,
  branchesOf,
  roomOf,
  writtenTokens,
  type Branch,
  type Episode,
} from "./episode.ts";
import { seedOf } from "./seeds.ts";
import { unlessAborted } from "./stop.ts";
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
  /** Whether the model sees again what it thought before earlier answers. */
  includeThinking: boolean;
  /** All conversations that are played together must be over by then. */
  rolloutTimeoutMs: number;
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
  /** Aborted when the time of the conversations is over. Default: after `rolloutTimeoutMs`. */
  deadline?: AbortSignal;
}

type Playing = PlayParams & { deadline: AbortSignal; limitTokens: number };

/**
 * Plays all requests side by side, a turn at a time, and returns them in their order. Conversations that go on are
 * sampled together: what is sampled hangs on the requests and never on which tool answered first. One that is not
 * over in time ends where it is, and has a fault that says so.
 */
export async function sampleAll(params: PlayParams, requests: readonly SampleRequest[]): Promise<Sample[]> {
  const { codec, settings, world } = params;
  const playing = {
    ...params,
    deadline: params.deadline ?? AbortSignal.timeout(timerMs(settings.rolloutTimeoutMs)),
    limitTokens: Math.min(settings.contextTokens ?? Infinity, codec.contextLength),
  };
  const episodes = await world.begin(requests);
  let live = episodes.filter(({ fault }) => fault === undefined);
  for (let turn = 1; turn <= settings.maxTurns && live.length > 0; turn++) {
    await answerAll(playing, live, turn);
    const answered = live.filter(({ fault, finishReason }) => fault === undefined && finishReason === "stop");
    live = await goOn(playing, answered, turn);
  }
  return episodes.map((episode) => Object.assign(episode, { text: codec.decode(episode.ids) }));
}

/** Samples the next answer of each; those whose answer comes too late have a fault. */
async function answerAll(playing: Playing, live: readonly Episode[], turn: number): Promise<void> {
  const { signal, deadline, codec, settings } = playing;
  const during = { signal: AbortSignal.any([signal, deadline]) };
  const answers = await Promise.allSettled(
    live.map((episode) => playing.engine.generate(requestOf(playing, episode, turn), during)),
  );
  live.forEach((episode, index) => {
    const answer = answers[index];
    if (answer?.status === "fulfilled") addAnswer(episode, codec, answer.value);
    else if (deadline.aborted && !signal.aborted) endLate(episode, settings);
    else throw answer?.reason;
  });
}

function requestOf(
  { codec, settings, limitTokens }: Playing,
  episode: Episode,
  turn: number,
): Parameters<EngineApi["generate"]>[0] {
  return {
    promptIds: [...episode.prompt.ids, ...episode.ids],
    maxNewTokens: Math.min(settings.maxTokens, answerRoom(episode, limitTokens)),
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    seed: turn === 1 ? episode.request.seed : seedOf(episode.request.seed, "turn", turn),
    stopIds: codec.stopIds,
  };
}

/** Asks tools and environments what comes next, and returns the conversations that the model answers again. */
async function goOn(playing: Playing, answered: readonly Episode[], turn: number): Promise<Episode[]> {
  const { codec, settings, world, deadline, limitTokens } = playing;
  const replies = await unlessAborted(world.reply(answered), deadline).catch((error: unknown) => {
    if (deadline.aborted) return undefined;
    throw error;
  });
  if (replies === undefined) {
    for (const episode of answered) if (world.goesOn(episode)) endLate(episode, settings);
    return [];
  }
  return answered.filter((episode, index) => {
    const said = replies[index];
    if (said === undefined) return false;
    const isLast = turn >= Math.min(settings.maxTurns, episode.maxTurns);
    if (!isLast) return addSaid(episode, codec, said, { ...settings, limitTokens });
    episode.messages.push(...said);
    return false;
  });
}

/** Nobody knows how good an answer would have become: there is no verdict. */
function endLate(episode: Episode, { rolloutTimeoutMs }: SampleSettings): void {
  episode.truncated = true;
  const seconds = rolloutTimeoutMs / 1_000;
  episode.fault = {
    code: "rollout_timeout",
    where: "rollout",
    message: `it was not over within ${seconds} s, after ${episode.turns} answers`,
  };
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
    if (fault !== undefined) {
      const { where = request.row.environment ?? "environment", ...cause } = fault;
      return { scores: {}, errors: { [where]: cause } };
    }
    return verdicts[sound.indexOf(sample)] ?? { scores: {}, errors: {} };
  });
}

export function rolloutOf(step: number, sample: Sample, verdict: Verdict, advantage?: number): Rollout {
  const { request, earlier, cutAnswers } = sample;
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
    ...(cutAnswers === 0 ? {} : { cutAnswers }),
    ...(earlier.length === 0 ? {} : { branches: earlier.map(tokensOf) }),
    ...tokensOf(sample),
    text: sample.text,
    finishReason: sample.finishReason,
    verdict,
    ...(advantage === undefined ? {} : { advantage }),
  };
}

/** Prompt and answers; only what the model wrote is masked in, and has a log-probability. */
function tokensOf({ prompt, ids, mask, logprobs }: Branch): RolloutTokens {
  const before = prompt.ids.map(() => 0);
  return {
    tokenIds: [...prompt.ids, ...ids],
    mask: [...before, ...mask],
    logprobs: [...before, ...logprobs],
  };
}

/**
 * The same tokens, as the trainer wants them, a sequence a branch: only what the model wrote is learnt, and all
 * branches have the advantage of their conversation.
 */
export function sequencesOf(sample: Sample, advantage: number): TrainSequence[] {
  return branchesOf(sample).map((branch) => {
    const { tokenIds, mask, logprobs } = tokensOf(branch);
    return {
      ids: tokenIds,
      mask,
      advantages: mask.map((written) => written * advantage),
      oldLogprobs: logprobs,
    };
  });
}

/** Log-probabilities of what the model wrote, as it wrote it: a list a branch. */
export function writtenLogprobs(sample: Sample): number[][] {
  return branchesOf(sample).map(({ logprobs, mask }) => logprobs.filter((_, index) => mask[index] === 1));
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
