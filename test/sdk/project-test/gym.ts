import type { FakeServer, Recorded } from "../fake-server.ts";
import { fakeServer, sendError } from "../fake-server.ts";
import { HASH } from "../records.ts";

export interface FakeGymParams {
  /** What rewards give to a response's text; an error where it throws. */
  score?: (content: string, row: Record<string, unknown>) => number;
  tools?: { name: string; description: string; parameters: object }[];
  callTool?: (tool: string, input: unknown) => unknown;
  /** Models that chat, and what they say. */
  chat?: (body: ChatBody) => object;
}

export interface ChatBody {
  model: string;
  messages: { role: string; content: string }[];
  tools?: unknown[];
  max_tokens?: number;
  seed?: number;
  temperature?: number;
  [key: string]: unknown;
}

/** A control plane that takes any code, judges with a function of the test and chats as it is told. */
export function fakeGym(params: FakeGymParams = {}): Promise<FakeServer> {
  const { score = () => 1, tools = [], callTool = () => null, chat } = params;
  const exported = (name: string) =>
    name === "tools.ts"
      ? tools.map((each) => ({ ...each, kind: "tool" }))
      : [{ kind: "reward", name: "accuracy" }];
  return fakeServer({
    "GET /endpoints": () => ({ items: [] }),
    "POST /endpoints": (_, response) =>
      sendError(response, 404, "model_not_found", "There is no such model."),
    "GET /v1/models/nano": () => (chat ? { id: "nano" } : undefined),
    "POST /v1/chat/completions": ({ body }) => chat?.(JSON.parse(body) as ChatBody),
    "*": (request, response) => {
      const { method, path, body, query } = request;
      if (method === "PUT" && path.startsWith("/user-code/"))
        return {
          v: 1,
          sha256: HASH,
          name: query.name,
          exports: exported(query.name ?? ""),
          bytes: 1,
          createdAtMs: 1,
        };
      if (path.endsWith("/rewards")) return { verdicts: rowsOf(body).map((row) => verdictOf(row, score)) };
      if (path.endsWith("/tools")) return { results: callsOf(body).map((call) => resultOf(call, callTool)) };
      return sendError(response, 404, "not_found", `No ${method} ${path}.`);
    },
  });
}

/** The bodies of requests whose path ends so. */
export function bodiesOf({ requests }: { requests: Recorded[] }, end: string): Record<string, unknown>[] {
  return requests
    .filter(({ path, method }) => method === "POST" && path.endsWith(end))
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

/** A chat completion that says something, or calls tools. */
export function says(content: string, more: object = {}, finishReason = "stop"): object {
  return {
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, ...more },
        finish_reason: finishReason,
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

interface JudgedRow {
  row: Record<string, unknown>;
  response: { content: string };
}

function rowsOf(body: string): JudgedRow[] {
  return (JSON.parse(body) as { rows: JudgedRow[] }).rows;
}

function verdictOf({ row, response }: JudgedRow, score: NonNullable<FakeGymParams["score"]>): object {
  try {
    const value = score(response.content, row);
    return {
      total: value,
      scores: { accuracy: { score: value, weight: 1, precondition: false } },
      errors: {},
    };
  } catch (error) {
    const { message } = error as Error;
    return { scores: {}, errors: { accuracy: { code: "reward_failed", message: `accuracy: ${message}` } } };
  }
}

interface Call {
  tool: string;
  input: unknown;
}

function callsOf(body: string): Call[] {
  return (JSON.parse(body) as { calls: Call[] }).calls;
}

function resultOf({ tool, input }: Call, callTool: NonNullable<FakeGymParams["callTool"]>): object {
  try {
    return { value: callTool(tool, input) };
  } catch (error) {
    return { error: { code: "tool_failed", message: (error as Error).message } };
  }
}
