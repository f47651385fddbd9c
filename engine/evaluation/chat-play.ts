import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EvalJob } from "../../sdk/schema/job.ts";
import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import { timerMs } from "../../sdk/schema/timer-ms.ts";
import type { JobClient } from "../agent.ts";
import { assistantMessage } from "../reward-row.ts";
import type { Episode } from "../training/episode.ts";
import type { RowToolCalls } from "../training/python-judge.ts";
import { seedOf } from "../training/seeds.ts";
import { unlessAborted } from "../training/stop.ts";
import { withoutThinking } from "../training/thinking.ts";
import { createWorld, type World } from "../training/world.ts";
import { readAnswer, type Answer } from "./answer.ts";
import { createChatCodec, placeholders } from "./chat-codec.ts";
import { isOwnFault } from "./own-fault.ts";
import { unplayed, type Play, type Played } from "./played.ts";
import type { Question } from "./questions.ts";
import { rolloutOf } from "./rollout-of.ts";

export interface ChatPlayParams {
  job: EvalJob;
  /** Where, and under which name, the model answers. */
  chat: { url: string; model: string };
  client: Pick<JobClient, "chat" | "callEnvironments"> & { callTools: RowToolCalls };
  signal: AbortSignal;
}

/**
 * Plays conversations with an endpoint: it answers, tools and environments are those of a training, and so are the
 * rules by which a conversation goes on. How many tokens there are is what the endpoint counted.
 */
export function createChatPlay(params: ChatPlayParams): Play {
  return async (question) => {
    params.signal.throwIfAborted();
    const { rolloutTimeoutMs } = params.job.spec.rollout;
    const deadline = AbortSignal.timeout(timerMs(rolloutTimeoutMs));
    const signal = AbortSignal.any([params.signal, deadline]);
    try {
      return await unlessAborted(playOne({ ...params, signal }, question), signal);
    } catch (error) {
      params.signal.throwIfAborted();
      if (deadline.aborted) return unplayed(late(rolloutTimeoutMs));
      if (isOwnFault(error)) return unplayed(error);
      throw error;
    }
  };
}

function late(timeoutMs: number): { code: string; message: string } {
  return { code: "rollout_timeout", message: `it was not over within ${timeoutMs / 1_000} s` };
}

async function playOne(params: ChatPlayParams, question: Question): Promise<Played> {
  const { job, client } = params;
  const rollout = rolloutOf(job.spec);
  const world = createWorld({ job, rollout, codec: createChatCodec(), client });
  const episode = await begin(world, question);
  if (episode.fault !== undefined) return unplayed(episode.fault);
  const limit = rollout.contextTokens ?? Infinity;
  let tokens = 0;
  for (let turn = 1; turn <= rollout.maxTurns; turn++) {
    const answer = await ask(params, question, episode, { turn, room: limit - usedTokens(episode) });
    if (answer === undefined) break;
    take(episode, answer);
    tokens += answer.tokens;
    if (answer.finishReason !== "stop") break;
    const [said] = await world.reply([episode]);
    if (episode.fault !== undefined) return unplayed(episode.fault);
    if (said === undefined) break;
    episode.messages.push(...said);
    if (turn >= Math.min(rollout.maxTurns, episode.maxTurns)) break;
    const next = createChatCodec().continuation(said, true).ids.length;
    if (usedTokens(episode) + next >= limit) {
      episode.truncated = true;
      break;
    }
    episode.ids = placeholders(episode.ids.length + next);
  }
  const { response, finishReason, messages, turns, truncated, cutAnswers } = episode;
  return { response, finishReason, messages: shown(messages, rollout), turns, truncated, cutAnswers, tokens };
}

async function begin(world: World, { number, row, seed }: Question): Promise<Episode> {
  const [episode] = await world.begin([{ index: number, group: number, row, seed }]);
  if (episode !== undefined) return episode;
  throw new RangeError("The world began no conversation.");
}

/** Undefined where what was said since the last answer left no room: tokens are known only once they were read. */
async function ask(
  { job, chat, client, signal }: ChatPlayParams,
  { seed, temperature }: Question,
  { tools, messages }: Episode,
  { turn, room }: { turn: number; room: number },
): Promise<Answer | undefined> {
  const { chatOptions } = job.spec;
  const body = {
    ...chatOptions,
    ...(temperature !== undefined && { temperature }),
    ...(tools.length > 0 && { tools }),
    model: chat.model,
    messages: shown(messages, job.spec.rollout),
    stream: false,
    seed: turn === 1 ? seed : seedOf(seed, "turn", turn),
  };
  const send = async (more: Record<string, number>) =>
    readAnswer(await client.chat(`${chat.url}/chat/completions`, { ...body, ...more }, signal));
  const limit = limited(chatOptions, Math.max(1, room));
  try {
    return await send(limit.field);
  } catch (error) {
    if (!isTooLong(error)) throw error;
    // The model may take less than a conversation may have: then what it takes is the limit.
    if (limit.isOurs) return send({});
    if (turn > 1) return undefined;
    throw error;
  }
}

function isTooLong(error: unknown): boolean {
  return SpotterError.is(error) && error.code === "context_length_exceeded";
}

/** No answer may be longer than what the conversation has room for. */
function limited(
  chatOptions: Record<string, unknown>,
  room: number,
): { field: Record<string, number>; isOurs: boolean } {
  const name = "max_completion_tokens" in chatOptions ? "max_completion_tokens" : "max_tokens";
  const asked = chatOptions[name];
  if (typeof asked === "number") return { field: { [name]: Math.min(asked, room) }, isOurs: false };
  return room === Infinity ? { field: {}, isOurs: false } : { field: { [name]: room }, isOurs: true };
}

/** What model and rewards see of a conversation; what it thought last stays, as in a training. */
function shown(
  messages: readonly ChatMessage[],
  { includeThinking }: { includeThinking: boolean },
): ChatMessage[] {
  const last = messages.at(-1);
  if (includeThinking || last === undefined) return [...messages];
  return last.role === "assistant"
    ? [...withoutThinking(messages.slice(0, -1)), last]
    : withoutThinking(messages);
}

function usedTokens({ prompt, ids }: Episode): number {
  return prompt.ids.length + ids.length;
}

/** Calls without an id get one, so that answers can name them. */
function take(episode: Episode, { response, promptTokens, tokens, finishReason }: Answer): void {
  episode.turns++;
  episode.response = {
    ...response,
    toolCalls: response.toolCalls.map((call, index) => ({
      ...call,
      id: call.id ?? `call_${episode.turns}_${index + 1}`,
    })),
  };
  episode.messages.push(assistantMessage(episode.response));
  episode.finishReason = finishReason === "length" ? "length" : "stop";
  const prompt = promptTokens ?? usedTokens(episode);
  Object.assign(episode, { prompt: { text: "", ids: placeholders(prompt) }, ids: placeholders(tokens) });
}
