import type * as z from "zod/mini";
import { ERROR_CODES, type ErrorCode } from "./schema/error-codes.ts";
import { SpotterError, errorBody } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { timerMs } from "./schema/timer-ms.ts";
import { connectionTo, foreignServer, isForeign, type Connection } from "./connection.ts";
import { jsonFault } from "./json-fault.ts";
import { retryAfterMs, withRetries, type Attempt } from "./retry.ts";

export type { Connection };

export interface ClientParams {
  /** Default: SPOTTER_URL, else the daemon of this machine, started if there is none. */
  url?: string;
  /** Default: SPOTTER_API_KEY. */
  key?: string;
  /** Tries of one call, the first included. Default 4. */
  maxAttempts?: number;
  /** Upper bound of the first wait between tries; doubles each time. Default 500. */
  retryDelayMs?: number;
}

/** What every SDK call takes beside its own options. */
export interface CallOptions {
  /** Default: {@link Client.default}. */
  client?: Client;
  signal?: AbortSignal;
}

export interface RequestOptions {
  query?: Record<string, string | number | undefined>;
  json?: unknown;
  /** A Blob may be a file that is read as it is sent. */
  body?: Uint8Array | Blob;
  signal?: AbortSignal | undefined;
  /** Time for one try. Default 60,000. */
  timeoutMs?: number;
  maxAttempts?: number | undefined;
  /** Names what is asked for: a server that gets it twice does it once. */
  idempotencyKey?: string;
  /** `unsent`: only tries that cannot have reached the server are repeated. Default `always`. */
  retry?: "always" | "unsent";
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const RETRIED_STATUS = new Set([408, 429, 500, 502, 503, 504]);
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

let shared: Client | undefined;

/**
 * Talks to one control plane. Scripts seldom need one: every call uses {@link Client.default}.
 *
 * @example
 * const client = new Client({ url: "https://gym.example.com", key: process.env.GYM_KEY });
 * const runs = await Run.list({ client });
 */
export class Client {
  readonly #params: ClientParams;
  readonly #maxAttempts: number;
  readonly #retryDelayMs: number;
  #connection: Promise<Connection> | undefined;
  /** The daemon used last. */
  #pid: number | undefined;

  constructor(params: ClientParams = {}) {
    this.#params = params;
    this.#maxAttempts = params.maxAttempts ?? 4;
    this.#retryDelayMs = params.retryDelayMs ?? 500;
  }

  /** The client of every call that names none: SPOTTER_URL and SPOTTER_API_KEY, else this machine's daemon. */
  static default(): Client {
    return (shared ??= new Client());
  }

  /** Replaces the default client; `undefined` goes back to the environment. */
  static setDefault(client: Client | undefined): void {
    shared = client;
  }

  /** Where this client talks to. Finds or starts the daemon if it must. */
  async connection(): Promise<Connection> {
    const pending = (this.#connection ??= this.#connect());
    // A failed start must not stick: the next call tries afresh.
    pending.catch(() => this.#forget(pending));
    return pending;
  }

  /** Sends a request and checks the answer against its schema. */
  async request<S extends z.ZodMiniType>(
    schema: S,
    method: Method,
    path: string,
    options: RequestOptions = {},
  ): Promise<z.infer<S>> {
    const text = await this.receive(method, path, options, (response) => response.text());
    return parseWith(schema, parseJson(text), `The answer of ${method} ${path}`, {
      code: "internal",
      hint: "The server speaks another version: update this package or the server.",
    });
  }

  /** Sends a request for its effect. */
  async command(method: Method, path: string, options: RequestOptions = {}): Promise<void> {
    await this.receive(method, path, options, (response) => response.arrayBuffer());
  }

  /** Sends a request whose body the caller reads. `timeoutMs` ends with the headers; `signal` goes on. */
  open(method: Method, path: string, options: RequestOptions = {}): Promise<Response> {
    return this.receive(method, path, options, async (response) => response);
  }

  /** Sends a request and reads its answer; when the answer breaks off, both happen again. */
  receive<T>(
    method: Method,
    path: string,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const refused = { key: undefined as string | undefined };
    return withRetries(() => this.#attempt(method, path, options, read, refused), {
      maxAttempts: options.maxAttempts ?? this.#maxAttempts,
      delayMs: this.#retryDelayMs,
      signal: options.signal,
    });
  }

  async #attempt<T>(
    method: Method,
    path: string,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
    refused: { key: string | undefined },
  ): Promise<Attempt<T>> {
    const pending = this.connection();
    const connection = this.#connection;
    const { url, key } = await pending;
    const body = options.json === undefined ? options.body : jsonText(options.json, `${method} ${path}`);
    const timeoutMs = options.timeoutMs ?? 60_000;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timerMs(timeoutMs));
    try {
      const response = await fetch(urlOf(url, path, options.query), {
        method,
        headers: headersOf(key, options),
        body,
        signal: options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal,
      });
      if (isForeign(response)) {
        await response.body?.cancel();
        throw foreignServer(url);
      }
      if (response.ok) return { value: await read(response) };
      const error = errorOf(response.status, await response.text(), `${method} ${path}`);
      // The daemon makes a new key at each start: a refused one may only be old.
      const staleKey = response.status === 401 && this.#params.url === undefined && refused.key !== key;
      if (staleKey) {
        refused.key = key;
        this.#forget(connection);
      }
      return {
        error,
        retry: staleKey || shouldRetry(response, options),
        retryAfterMs: staleKey ? 0 : retryAfterMs(response.headers, Date.now()),
      };
    } catch (cause) {
      options.signal?.throwIfAborted();
      // fetch reports every broken connection as a TypeError; what else fails is the reader's own affair.
      if (!timeout.signal.aborted && !(cause instanceof TypeError)) throw cause;
      this.#forget(connection);
      if (timeout.signal.aborted) {
        const text = `No answer to ${method} ${path} within ${timeoutMs} ms.`;
        return { error: new SpotterError("timeout", text, { cause }), retry: options.retry !== "unsent" };
      }
      return {
        error: transportError(url, cause),
        retry: options.retry !== "unsent" || UNSENT.has(causeCode(cause) ?? ""),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(): Promise<Connection> {
    const url = this.#params.url ?? process.env.SPOTTER_URL;
    const key = this.#params.key ?? process.env.SPOTTER_API_KEY;
    if (url) return connectionTo(url, key);
    const { connectLocal } = await import("./local/connect.ts");
    const { pid, ...connection } = await connectLocal({ previousPid: this.#pid });
    this.#pid = pid;
    return connection;
  }

  #forget(connection: Promise<Connection> | undefined): void {
    if (this.#connection === connection) this.#connection = undefined;
  }
}

/** The client a call was given, else the default one. */
export function clientOf(options: CallOptions | undefined): Client {
  return options?.client ?? Client.default();
}

function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const { path, why } = jsonFault(value) ?? { path: "", why: String(cause) };
    throw new SpotterError("invalid_input", `The body of ${what} is not JSON: ${path} ${why}.`, {
      where: path,
      hint: "Send texts, finite numbers, booleans, null, lists and objects of these.",
      cause,
    });
  }
}

function urlOf(base: string, path: string, query: RequestOptions["query"]): string {
  const set = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(
    set.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${base}${path}${search && `?${search}`}`;
}

function headersOf(key: string | undefined, options: RequestOptions): Record<string, string> {
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
    ...(options.json === undefined ? {} : { "content-type": "application/json" }),
    ...(options.body === undefined ? {} : { "content-type": "application/octet-stream" }),
  };
}

function shouldRetry(response: Response, options: RequestOptions): boolean {
  const asked = response.headers.get("x-should-retry");
  if (asked === "true" || asked === "false") return asked === "true";
  // 429 and 503 say that the request was not taken on, so even a launch may be repeated.
  if (options.retry === "unsent") return response.status === 429 || response.status === 503;
  return RETRIED_STATUS.has(response.status);
}

/** Error bodies come in our own shape, in OpenAI's from `/v1`, and in any shape from a proxy in between. */
function errorOf(status: number, text: string, what: string): SpotterError {
  const body = parseJson(text);
  const own = errorBody.safeParse(body);
  if (own.success) return SpotterError.fromBody(own.data, status);
  const openAi = (body as { error?: { message?: unknown; code?: unknown } } | undefined)?.error;
  const message = typeof openAi?.message === "string" ? openAi.message : `${what}: ${text.slice(0, 300)}`;
  const code = typeof openAi?.code === "string" && openAi.code in ERROR_CODES ? openAi.code : codeOf(status);
  return new SpotterError(code as ErrorCode, message || `${what} was answered ${status}.`, { status });
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not_found";
  if (status === 409) return "conflict";
  if (status === 413) return "payload_too_large";
  if (status === 429 || status === 503) return "capacity";
  return status < 500 ? "invalid_input" : "internal";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function transportError(url: string, cause: unknown): SpotterError {
  const code = causeCode(cause);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  return new SpotterError("daemon_unreachable", `Cannot reach ${url}: ${why}.`, {
    hint: "Check SPOTTER_URL, or run `spotter status` to see whether the daemon runs.",
    retryable: true,
    cause,
  });
}

function causeCode(error: unknown): string | undefined {
  const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause;
  return typeof cause?.code === "string" ? cause.code : undefined;
}
