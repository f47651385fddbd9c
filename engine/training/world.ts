import type { JobCallResult, TrainJob } from "../../sdk/schema/job.ts";
import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { JobClient } from "../agent.ts";
import type { RowToolCalls } from "./python-judge.ts";
import { startEpisode, type Episode, type EpisodeStart } from "./episode.ts";
import type { SampleRequest } from "./samples.ts";
import type { PromptCodec } from "./text.ts";
import { toolMessages } from "./tool-messages.ts";

/** What a model meets besides prompts: tools that answer, and environments that go on. */
export interface World {
  /** The beginning of each request's conversation. */
  begin(requests: readonly SampleRequest[]): Promise<Episode[]>;
  /**
   * What is said after the model's last answers: the tools' answers, the environments' next messages. `undefined`
   * where the conversation is over.
   */
  reply(episodes: readonly Episode[]): Promise<(ChatMessage[] | undefined)[]>;
  /** Whether something is still to come after the model's last answer: a tool's answer, a step, another turn. */
  goesOn(episode: Episode): boolean;
}

export interface WorldParams {
  job: Pick<TrainJob, "tools" | "environments">;
  rollout: RunSpec["rollout"];
  codec: PromptCodec;
  client: Pick<JobClient, "callEnvironments"> & { callTools: RowToolCalls };
}

/** The world of one run. All calls of a turn go in one request each, so that what is sampled never hangs on timing. */
export function createWorld({ job, rollout, codec, client }: WorldParams): World {
  const { tools = [], environments = {} } = job;

  function plain(request: SampleRequest): EpisodeStart {
    const { row } = request;
    const allowed = tools.filter((tool) => row.tools?.includes(tool.function.name) ?? true);
    return {
      request,
      prompt: codec.promptOf(row),
      messages: row.prompt as ChatMessage[],
      tools: row.chatTemplate === false ? [] : allowed,
    };
  }

  function begun(request: SampleRequest, result: JobCallResult | undefined): EpisodeStart {
    const { tools: own = [], maxTurns } = environments[request.row.environment ?? ""] ?? {};
    if (result === undefined || "error" in result) return broken(request, result?.error);
    const { messages, state } = result.value as { messages: ChatMessage[]; state?: unknown };
    return { request, prompt: codec.conversation(messages, own), messages, tools: own, maxTurns, state };
  }

  async function begin(requests: readonly SampleRequest[]): Promise<Episode[]> {
    const played = requests.filter(({ row }) => row.environment !== undefined);
    const results = await client.callEnvironments(
      played.map(({ row }) => ({ environment: row.environment ?? "", call: "setup", input: row.row })),
    );
    return requests.map((request) =>
      startEpisode(
        request.row.environment === undefined
          ? plain(request)
          : begun(request, results[played.indexOf(request)]),
      ),
    );
  }

  async function reply(episodes: readonly Episode[]): Promise<(ChatMessage[] | undefined)[]> {
    const calling = episodes.filter(callsTools);
    const stepping = episodes.filter((episode) => !callsTools(episode) && hasSteps(episode));
    const said = new Map<Episode, ChatMessage[]>();
    for (const [episode, messages] of await answersOf(calling)) said.set(episode, messages);
    for (const [episode, messages] of await stepsOf(stepping)) said.set(episode, messages);
    return episodes.map((episode) => said.get(episode) ?? (talksOn(episode) ? [] : undefined));
  }

  function talksOn(episode: Episode): boolean {
    return rollout.terminationPolicy === "max_turns" && isPlain(episode);
  }

  /** One request for the calls of all conversations. */
  async function answersOf(calling: readonly Episode[]): Promise<[Episode, ChatMessage[]][]> {
    const calls = calling.flatMap((episode) => episode.response.toolCalls.map((call) => ({ episode, call })));
    const allowed = calls.filter(({ episode, call }) => mayCall(episode, call.name));
    const results = await client.callTools(
      allowed.map(({ episode, call }) => ({
        ...(isPlain(episode) ? {} : { environment: episode.request.row.environment }),
        tool: call.name,
        input: call.arguments,
      })),
      allowed.map(({ episode }) => episode.request.row.row),
    );
    return calling.map((episode) => {
      const answers = episode.response.toolCalls.map((call) => ({
        call,
        result: results[allowed.findIndex((each) => each.episode === episode && each.call === call)],
      }));
      return [episode, toolMessages(episode, codec, answers, rollout)];
    });
  }

  async function stepsOf(stepping: readonly Episode[]): Promise<[Episode, ChatMessage[]][]> {
    const results = await client.callEnvironments(
      stepping.map(({ request, messages, response, state }) => ({
        environment: request.row.environment ?? "",
        call: "step",
        input: { row: request.row.row, state, messages, response },
      })),
    );
    return stepping.flatMap((episode, index) => {
      const result = results[index];
      if (result === undefined || "error" in result) {
        episode.fault = result?.error ?? NO_ANSWER;
        return [];
      }
      const turn = result.value as { messages?: ChatMessage[]; state?: unknown; done: boolean };
      if (turn.state !== undefined) episode.state = turn.state;
      episode.messages.push(...(turn.done ? (turn.messages ?? []) : []));
      return turn.done ? [] : [[episode, turn.messages ?? []]];
    });
  }

  function hasSteps({ request }: Episode): boolean {
    return environments[request.row.environment ?? ""]?.steps ?? false;
  }

  return {
    begin,
    reply,
    goesOn: (episode) => callsTools(episode) || hasSteps(episode) || talksOn(episode),
  };
}

const NO_ANSWER = { code: "environment_failed", message: "it gave no answer" };

function broken(request: SampleRequest, fault = NO_ANSWER): EpisodeStart {
  return { request, prompt: { text: "", ids: [] }, messages: [], tools: [], fault };
}

function isPlain({ request }: Episode): boolean {
  return request.row.environment === undefined;
}

/** A call of a model that was told of no tools is just text. */
function callsTools({ tools, response }: Episode): boolean {
  return tools.length > 0 && response.toolCalls.length > 0;
}

function mayCall({ tools }: Episode, name: string): boolean {
  return tools.some((tool) => (tool as { function?: { name?: unknown } }).function?.name === name);
}
