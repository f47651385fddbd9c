import * as z from "zod/mini";
import { errorBody, SpotterError } from "../../sdk/schema/errors.ts";
import type { Pace } from "./pace.ts";
import { RetryLater, withRetry } from "./retry.ts";

export interface TransportParams {
  /** Base URL of the control plane. */
  url: string;
  token: string;
  pace: Pace;
  /** How long the control plane may stay away before a request gives up. */
  giveUpAfterMs: number;
  /** Aborted when nothing may be sent any more; its reason is what requests reject with. */
  signal: AbortSignal;
  /** A newer attempt owns the job. */
  onStale: (error: SpotterError) => void;
  /** A request gave up. */
  onLost: (error: SpotterError) => void;
}

export interface RequestParams {
  method?: string;
  /** A fresh body for each attempt. */
  body?: () => string | Blob | Promise<string | Blob>;
  headers?: Record<string, string>;
  timeoutMs?: number;
  /** Ends the request and its retries. */
  signal?: AbortSignal;
}

/** HTTP to the control plane and to blob stores, with the retry rules of a container. */
export interface Transport {
  /** POSTs JSON (or GETs without a body) below the base URL and returns the parsed answer. */
  json(path: string, body?: unknown, params?: Pick<RequestParams, "timeoutMs" | "signal">): Promise<unknown>;
  /** Any URL; the token goes along only to the control plane's own origin. `read` consumes the answer. */
  request<T>(url: string, params: RequestParams, read: (response: Response) => Promise<T>): Promise<T>;
}

/** Attempts at a request that the control plane answers with a plain 500: more would not help. */
const ATTEMPTS_ON_500 = 4;

export function createTransport(params: TransportParams): Transport {
  const base = new URL(params.url);

  function authorization(url: URL): Record<string, string> {
    return url.origin === base.origin ? { authorization: `Bearer ${params.token}` } : {};
  }

  async function attempt<T>(
    url: URL,
    request: RequestParams & { signal: AbortSignal },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const signals = [request.signal];
    if (request.timeoutMs !== undefined) signals.push(AbortSignal.timeout(request.timeoutMs));
    try {
      const body = await request.body?.();
      const response = await fetch(url, {
        method: request.method ?? "GET",
        headers: { ...request.headers, ...authorization(url) },
        signal: AbortSignal.any(signals),
        ...(body === undefined ? {} : { body }),
      });
      if (!response.ok) throw await refusal(response, url);
      return await read(response);
    } catch (error) {
      if (error instanceof RetryLater || SpotterError.is(error)) throw error;
      // An answer lost on the way, a refused connection, a time limit: the other side may come back.
      if (isNetworkError(error)) throw new RetryLater(`${url.host}: ${messageOf(error)}`, { cause: error });
      throw error;
    }
  }

  const request: Transport["request"] = async (address, requestParams, read) => {
    const url = new URL(address, base);
    const signal = AbortSignal.any([params.signal, ...(requestParams.signal ? [requestParams.signal] : [])]);
    try {
      return await withRetry(
        `${requestParams.method ?? "GET"} ${url.pathname}`,
        () => attempt(url, { ...requestParams, signal }, read),
        { pace: params.pace, giveUpAfterMs: params.giveUpAfterMs, signal },
      );
    } catch (error) {
      if (url.origin === base.origin) tell(error);
      throw error;
    }
  };

  function tell(error: unknown): void {
    if (!SpotterError.is(error)) return;
    if (error.code === "attempt_stale") params.onStale(error);
    if (error.code === "daemon_unreachable") params.onLost(error);
  }

  return {
    request,
    json: (path, body, { timeoutMs = 30_000, signal } = {}) =>
      request(
        path,
        {
          timeoutMs,
          ...(signal === undefined ? {} : { signal }),
          ...(body === undefined
            ? {}
            : {
                method: "POST",
                body: () => JSON.stringify(body),
                headers: { "content-type": "application/json" },
              }),
        },
        async (response) => await response.json(),
      ),
  };
}

/** The answer of a request that was refused, as what to do next. */
async function refusal(response: Response, url: URL): Promise<Error> {
  const text = await response.text();
  const body = z.safeParse(errorBody, safeJson(text));
  const error = body.success
    ? SpotterError.fromBody(body.data, response.status)
    : unexplained(response.status, url, text);
  const afterMs = retryAfterMs(response.headers.get("retry-after"));
  const message = `${url.host} answered ${response.status}: ${error.message}`;
  if (response.status === 410 || error.code === "attempt_stale") return staleError(error);
  if ([408, 425, 429, 502, 503, 504].includes(response.status))
    return new RetryLater(message, { afterMs, cause: error });
  if (response.status >= 500)
    return new RetryLater(message, { afterMs, cause: error, atMost: ATTEMPTS_ON_500 });
  return error;
}

function staleError(error: SpotterError): SpotterError {
  return error.code === "attempt_stale"
    ? error
    : new SpotterError("attempt_stale", error.message, { cause: error });
}

/** The error body of OpenAI-compatible endpoints, which has no kind and may have no code. */
const openAiError = z.object({
  error: z.object({ message: z.string(), code: z.nullish(z.union([z.string(), z.number()])) }),
});

function unexplained(status: number, url: URL, text: string): SpotterError {
  const foreign = z.safeParse(openAiError, safeJson(text)).data?.error;
  if (foreign !== undefined)
    return SpotterError.fromBody(
      { error: { code: String(foreign.code), kind: "user", message: foreign.message } },
      status,
    );
  const code = status === 401 ? "unauthorized" : status === 404 ? "not_found" : "internal";
  return new SpotterError(code, `${url.pathname} answered ${status}: ${text.slice(0, 200)}`, { status });
}

/** Seconds, as HTTP has it; a date is not worth a clock comparison between machines. */
export function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "AbortError" ||
    error.name === "TimeoutError" ||
    // undici reports every connection failure as a TypeError with the real one as its cause.
    (error instanceof TypeError && (error.cause instanceof Error || error.message === "terminated")) ||
    error instanceof SyntaxError
  );
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
