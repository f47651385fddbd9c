import type { ChatCompletion } from "../../../schema/chat.ts";
import { SpotterError } from "../../../schema/errors.ts";
import { retryAfterMs, withRetries, type Attempt } from "../../../retry.ts";
import type { Ask } from "./chat-player.ts";
import { jsonText } from "./json-text.ts";

const TIMEOUT_MS = 600_000;
const RETRIED_STATUS = new Set([408, 409, 429, 500, 502, 503, 504]);

export interface OpenAiServer {
  /** With its version, as `https://api.openai.com/v1`. */
  baseUrl: string;
  key?: string | undefined;
  /** Upper bound of the first wait between tries; doubles each time. Default 500. */
  retryDelayMs?: number;
}

/** Chat completions of any server that speaks OpenAI's API. */
export function openAiAsk(server: OpenAiServer): Ask {
  return (body, signal) => send<ChatCompletion>(server, "POST", "/chat/completions", signal, body);
}

/** The models that a server names, in its order. */
export async function openAiModels(server: OpenAiServer, signal: AbortSignal): Promise<string[]> {
  const list = await send<{ data?: { id?: unknown }[] }>(server, "GET", "/models", signal);
  return (list.data ?? []).flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}

function send<T>(
  server: OpenAiServer,
  method: "GET" | "POST",
  path: string,
  signal: AbortSignal,
  body?: Record<string, unknown>,
): Promise<T> {
  return withRetries(() => attempt<T>(server, method, path, signal, body), {
    maxAttempts: 4,
    delayMs: server.retryDelayMs ?? 500,
    signal,
  });
}

async function attempt<T>(
  { baseUrl, key }: OpenAiServer,
  method: string,
  path: string,
  signal: AbortSignal,
  body: Record<string, unknown> | undefined,
): Promise<Attempt<T>> {
  const url = `${baseUrl}${path}`;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, limit]),
    });
    const text = await response.text();
    if (!response.ok)
      return {
        error: refused(url, response.status, text),
        retry: RETRIED_STATUS.has(response.status),
        ...waitOf(response.headers),
      };
    const value = jsonText(text);
    return value === undefined ? { error: notJson(url), retry: false } : { value: value as T };
  } catch (cause) {
    signal.throwIfAborted();
    if (limit.aborted)
      return {
        error: new SpotterError("timeout", `No answer from ${url} within ${TIMEOUT_MS} ms.`, { cause }),
        retry: false,
      };
    return { error: unreachable(url, cause), retry: true };
  }
}

function waitOf(headers: Headers): { retryAfterMs?: number } {
  const ms = retryAfterMs(headers, Date.now());
  return ms === undefined ? {} : { retryAfterMs: ms };
}

function refused(url: string, status: number, text: string): SpotterError {
  const body = jsonText(text) as { error?: { message?: unknown; code?: unknown } | string } | undefined;
  const error = typeof body?.error === "object" ? body.error : undefined;
  const message = typeof error?.message === "string" ? error.message : text.slice(0, 300);
  const isLong = error?.code === "context_length_exceeded" || /maximum context length/i.test(message);
  const said = `${url} answers ${status}: ${message || "without a word"}`;
  if (status === 401 || status === 403)
    return new SpotterError("unauthorized", said, { hint: "Set OPENAI_API_KEY to a key of this server." });
  if (isLong)
    return new SpotterError("context_length_exceeded", said, {
      hint: "Lower rollout.max_context_window, or shorten the prompt.",
    });
  if (status === 429)
    return new SpotterError("rate_limited", said, { hint: "Wait, or ask for less at once." });
  if (status === 404)
    return new SpotterError("model_not_found", said, { hint: "Check the URL and the model's name." });
  return new SpotterError(status >= 500 ? "engine_failed" : "invalid_input", said, {
    hint: "It is the server's own word on the request.",
  });
}

function notJson(url: string): SpotterError {
  return new SpotterError("engine_failed", `${url} answers with something else than JSON.`, {
    hint: "Give the URL with its version, as http://127.0.0.1:8000/v1.",
  });
}

function unreachable(url: string, cause: unknown): SpotterError {
  return new SpotterError("endpoint_not_ready", `Nothing answers at ${url}.`, {
    hint: "Start the server, or correct --model or OPENAI_BASE_URL.",
    cause,
  });
}
