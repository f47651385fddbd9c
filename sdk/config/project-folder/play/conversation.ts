import { SpotterError } from "../../../schema/errors.ts";
import type { JobCallResult, ToolDefinition } from "../../../schema/job.ts";
import type { ChatMessage, ParsedResponse, RewardRow, ToolCall } from "../../../schema/rollout.ts";
import { isObject } from "../row-context.ts";
import type { Answer, Entry, Player, Turn } from "./player.ts";
import { estimatedPrompt, estimatedTokens, textOfTokens } from "./token-estimate.ts";

/** How a conversation is played: what `rollout` of config.yml says. */
export interface PlaySettings {
  maxTurns: number;
  terminationPolicy: "last_tool" | "max_turns";
  /** Longest conversation in tokens. */
  contextTokens: number;
  /** Longest answer of a tool in tokens. Absent: as much as there is room for. */
  maxToolTokens?: number | undefined;
  /** Keep the thinking of earlier answers in what the model and the rewards see. */
  includeThinking: boolean;
}

/** A call of a tool, as the control plane takes it. */
export interface PlayedCall {
  tool: string;
  input: unknown;
}

export interface PlayParams {
  player: Pick<Player, "answer">;
  /** All tools of the project. */
  tools: readonly ToolDefinition[];
  /** Calls of one answer, with the row that the conversation is about. */
  callTools: (
    calls: PlayedCall[],
    row: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<JobCallResult[]>;
  settings: PlaySettings;
  /** Of each turn. */
  seedOf: (turn: number) => number;
  signal: AbortSignal;
}

/** A conversation that was played to its end. */
export interface Conversation {
  messages: ChatMessage[];
  /** The last answer. */
  response: ParsedResponse;
  finishReason: "stop" | "length";
  turns: number;
  /** There was no room for another answer, or a tool's answer had to be cut to the room that was left. */
  truncated: boolean;
  promptTokens: number;
  /** Tokens that the model wrote, of all turns. */
  completionTokens: number;
  toolErrors: string[];
}

const CUT_MARK = " …[cut]";
/** Left around a tool's answer for the template's own words and for the model to go on. */
const SPARE_TOKENS = 32;

/** Plays one row as a training does: answer, tools, answer, until the termination policy says stop. */
export async function playConversation(entry: Entry, params: PlayParams): Promise<Conversation> {
  const { player, settings, signal } = params;
  const tools = params.tools.filter(({ function: { name } }) => entry.row.tools?.includes(name) ?? true);
  const state: Conversation & { usedTokens: number } = {
    messages: entry.row.prompt.map((message) => ({ ...message })) as ChatMessage[],
    response: { content: "", reasoning: "", toolCalls: [] },
    finishReason: "stop",
    turns: 0,
    truncated: false,
    promptTokens: 0,
    completionTokens: 0,
    toolErrors: [],
    usedTokens: estimatedPrompt(entry.row.prompt),
  };
  for (let number = 1; number <= settings.maxTurns; number++) {
    const maxTokens = settings.contextTokens - state.usedTokens;
    const turn = {
      entry,
      messages: shown(state.messages, settings),
      tools,
      number,
      maxTurns: settings.maxTurns,
    };
    const seed = params.seedOf(number);
    const answer = await answered(player, { ...turn, maxTokens: Math.max(1, maxTokens), seed, signal });
    if (answer === undefined) {
      state.truncated = true;
      break;
    }
    if (number === 1 && answer.promptTokens >= settings.contextTokens)
      throw tooLong(entry, answer.promptTokens, settings.contextTokens);
    take(state, answer);
    if (state.finishReason !== "stop") break;
    const calls = tools.length > 0 ? state.response.toolCalls : [];
    if (calls.length === 0 && settings.terminationPolicy === "last_tool") break;
    await callAll(state, calls, entry, { ...params, tools });
    if (number < settings.maxTurns && state.usedTokens >= settings.contextTokens) {
      state.truncated = true;
      break;
    }
  }
  const { usedTokens: _, ...conversation } = state;
  return { ...conversation, messages: shown(state.messages, settings, state.response) };
}

type State = Conversation & { usedTokens: number };

/** Undefined where what was said since the last answer left no room: tokens are known only once they were read. */
async function answered(player: PlayParams["player"], turn: Turn): Promise<Answer | undefined> {
  try {
    return await player.answer(turn);
  } catch (error) {
    if (turn.number > 1 && SpotterError.is(error) && error.code === "context_length_exceeded")
      return undefined;
    throw error;
  }
}

function take(state: State, answer: Answer): void {
  state.turns++;
  state.response = {
    ...answer.response,
    toolCalls: answer.response.toolCalls.map((call, index) => ({
      ...call,
      id: call.id ?? `call_${state.turns}_${index + 1}`,
    })),
  };
  state.messages.push(assistantMessage(state.response));
  state.finishReason = answer.finishReason;
  if (state.turns === 1) state.promptTokens = answer.promptTokens;
  state.completionTokens += answer.completionTokens;
  state.usedTokens = answer.promptTokens + answer.completionTokens;
}

async function callAll(
  state: State,
  calls: readonly ToolCall[],
  entry: Entry,
  { tools, callTools, settings, signal }: PlayParams,
): Promise<void> {
  if (calls.length === 0) return;
  const isKnown = ({ name }: ToolCall) => tools.some(({ function: tool }) => tool.name === name);
  const known = calls.filter(isKnown);
  const results = await callTools(
    known.map(({ name, arguments: input }) => ({ tool: name, input })),
    entry.row.row,
    signal,
  );
  let room = settings.contextTokens - state.usedTokens - SPARE_TOKENS;
  calls.forEach((call, index) => {
    const result = results[known.indexOf(call)];
    const error = errorOf(call, result);
    if (error !== undefined) state.toolErrors.push(`${call.name}: ${error}`);
    const text = error === undefined ? valueText(result) : JSON.stringify({ error });
    // Each gets its share of what is left, so that the last call is answered as well.
    const share = Math.max(0, Math.floor(room / (calls.length - index)));
    const asked = settings.maxToolTokens ?? Infinity;
    const tokens = estimatedTokens(text);
    if (tokens > share && share < asked) state.truncated = true;
    const content = tokens <= Math.min(asked, share) ? text : cut(text, Math.min(asked, share));
    room -= estimatedTokens(content);
    state.usedTokens += estimatedTokens(content);
    state.messages.push({ role: "tool", tool_call_id: call.id, name: call.name, content });
  });
}

function cut(text: string, tokens: number): string {
  return `${textOfTokens(text, tokens - estimatedTokens(CUT_MARK))}${CUT_MARK}`;
}

function errorOf({ name }: ToolCall, result: JobCallResult | undefined): string | undefined {
  if (result === undefined) return `there is no tool ${JSON.stringify(name)}`;
  return "error" in result ? result.error.message : undefined;
}

function valueText(result: JobCallResult | undefined): string {
  const value = result && "value" in result ? result.value : undefined;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
}

/** A model's answer as a message, in the form every chat template reads. */
function assistantMessage({ content, reasoning, toolCalls }: ParsedResponse): ChatMessage {
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: input }) => ({
            id,
            type: "function",
            function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
          })),
        }),
  };
}

/** The messages, where earlier thinking is not wanted without it; that of the last answer stays for rewards. */
function shown(
  messages: readonly ChatMessage[],
  { includeThinking }: PlaySettings,
  last?: ParsedResponse,
): ChatMessage[] {
  if (includeThinking) return [...messages];
  const kept = last === undefined ? undefined : messages.findLast(({ role }) => role === "assistant");
  return messages.map((message) => {
    if (message === kept || message.reasoning_content === undefined) return message;
    const { reasoning_content: _, ...rest } = message;
    return rest;
  });
}

/** What a reward is called with. */
export function rewardRow({ row }: Entry, conversation: Conversation): RewardRow {
  const { response, completionTokens, finishReason, messages } = conversation;
  return {
    row: row.row,
    metadata: isObject(row.row.metadata) ? row.row.metadata : {},
    variables: isObject(row.row.variables) ? row.row.variables : {},
    response,
    completion: { tokens: completionTokens, finishReason },
    messages,
    ...(row.rewards === undefined ? {} : { rewards: row.rewards }),
  };
}

function tooLong({ index }: Entry, promptTokens: number, contextTokens: number): SpotterError {
  return new SpotterError(
    "context_length_exceeded",
    `The prompt of row ${index} has ${promptTokens} tokens, and a conversation may have ${contextTokens}.`,
    { where: "rollout.max_context_window", hint: "Raise max_context_window, or shorten the prompt." },
  );
}
