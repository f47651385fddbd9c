import type { Clock, Log } from "../ports/clock.ts";
import { accessLog } from "./access-log.ts";

/**
 * Watches every request: one {@link Observation} each. Numbers, the access log and traces all come from it, so
 * the data path tells each fact once. Handlers get theirs with `observationOf(c)` (./observe.ts).
 *
 * @example
 * const seen = observer.begin({ requestId, route: "/v1/chat/completions", traceparent });
 * seen.endpoint(name); seen.key(holder.id);
 * seen.queued(); seen.admitted({ replica: jobId, coldStart: true });
 * await post({ headers: { ...seen.upstreamHeaders() } });
 * seen.firstByte();                    // when the first byte of the body goes to the client
 * seen.tokens({ input: 12, output: 40 });
 * seen.end(200);                       // once, whatever happened; 499: the client went away
 */
export interface Observer {
  begin(request: ObservedRequest): Observation;
  /** Takes part in every later request. */
  add(sink: RequestSink): void;
}

export interface ObservedRequest {
  requestId: string;
  /** The route's pattern, never the path as sent: it becomes a label. */
  route: string;
  /** Default "POST", the gateway's. */
  method?: string;
  /** The client's own, for distributed traces (W3C Trace Context). */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

/** What the data path tells about one request. Every call is cheap and none throws. */
export interface Observation {
  /** The endpoint's own name, once the model name is resolved. */
  endpoint(name: string): void;
  /** The id of the caller's key; never the key. */
  key(id: string): void;
  /** It begins to wait for a replica. */
  queued(): void;
  /** It has its slot. `coldStart`: none was ready when it came. After a retry: once more, with the other replica. */
  admitted(slot: { replica: string; coldStart: boolean }): void;
  /** What goes to the replica so that its log and spans belong to this request: `x-request-id`, `traceparent`. */
  upstreamHeaders(): Record<string, string>;
  /** The first byte of the answer's body goes to the client. Later calls count nothing. */
  firstByte(): void;
  /** As the engine counts them; may be called again, the last values count. */
  tokens(counted: TokenCounts): void;
  /** For the answer's head: `x-request-id`, `openai-processing-ms`, `x-spotter-queue-ms`, `x-spotter-cold-start`. */
  responseHeaders(): Record<string, string>;
  /** The code of the error it will end with, where that is known before its end. */
  failed(code: string): void;
  /** It is over. The first call counts. `code`: of the error, if it was one. */
  end(status: number, code?: string): void;
}

export interface TokenCounts {
  input: number;
  output: number;
  /** Of `input`, those taken from the prefix cache. */
  cached?: number | undefined;
}

/** A finished request, as sinks see it. Times are milliseconds of the injected clock. */
export interface RequestRecord {
  requestId: string;
  route: string;
  method: string;
  endpoint?: string;
  keyId?: string;
  replica?: string;
  status: number;
  code?: string;
  startedAtMs: number;
  queuedAtMs?: number;
  admittedAtMs?: number;
  firstByteAtMs?: number;
  endedAtMs: number;
  coldStart: boolean;
  tokens?: TokenCounts;
}

/** Hears of requests. `begin` may give headers for the replica and hear of the end by itself. */
export interface RequestSink {
  begin?(request: ObservedRequest, startedAtMs: number): SinkSpan | undefined;
  ended?(record: RequestRecord): void;
}

export interface SinkSpan {
  /** Called when the request goes to a replica. */
  upstreamHeaders(nowMs: number): Record<string, string>;
  ended(record: RequestRecord): void;
}

export function createObserver({ clock, log }: { clock: Pick<Clock, "now">; log: Log }): Observer {
  const sinks: RequestSink[] = [accessLog(log)];
  return {
    begin: (request) => new Watched(clock, sinks, request),
    add: (sink) => void sinks.push(sink),
  };
}

class Watched implements Observation {
  readonly #clock: Pick<Clock, "now">;
  readonly #sinks: readonly RequestSink[];
  readonly #request: ObservedRequest;
  readonly #record: RequestRecord;
  readonly #spans: SinkSpan[] = [];
  #isOver = false;

  constructor(clock: Pick<Clock, "now">, sinks: readonly RequestSink[], request: ObservedRequest) {
    this.#clock = clock;
    this.#sinks = sinks;
    this.#request = request;
    const startedAtMs = clock.now();
    this.#record = {
      requestId: request.requestId,
      route: request.route,
      method: request.method ?? "POST",
      status: 0,
      startedAtMs,
      endedAtMs: startedAtMs,
      coldStart: false,
    };
    for (const sink of sinks) {
      const span = sink.begin?.(request, startedAtMs);
      if (span !== undefined) this.#spans.push(span);
    }
  }

  endpoint(name: string): void {
    this.#record.endpoint = name;
  }

  key(id: string): void {
    this.#record.keyId = id;
  }

  queued(): void {
    this.#record.queuedAtMs ??= this.#clock.now();
  }

  admitted({ replica, coldStart }: { replica: string; coldStart: boolean }): void {
    this.#record.admittedAtMs ??= this.#clock.now();
    this.#record.replica = replica;
    this.#record.coldStart ||= coldStart;
  }

  upstreamHeaders(): Record<string, string> {
    const { requestId, traceparent, tracestate } = this.#request;
    const headers: Record<string, string> = { "x-request-id": requestId };
    if (traceparent !== undefined) headers["traceparent"] = traceparent;
    if (tracestate !== undefined) headers["tracestate"] = tracestate;
    for (const span of this.#spans) Object.assign(headers, span.upstreamHeaders(this.#clock.now()));
    return headers;
  }

  firstByte(): void {
    this.#record.firstByteAtMs ??= this.#clock.now();
  }

  tokens(counted: TokenCounts): void {
    this.#record.tokens = counted;
  }

  responseHeaders(): Record<string, string> {
    const { requestId, startedAtMs, queuedAtMs, admittedAtMs, coldStart } = this.#record;
    const nowMs = this.#clock.now();
    const queueMs = queuedAtMs === undefined ? 0 : (admittedAtMs ?? nowMs) - queuedAtMs;
    return {
      "x-request-id": requestId,
      "openai-processing-ms": String(nowMs - startedAtMs),
      "x-spotter-queue-ms": String(queueMs),
      "x-spotter-cold-start": String(coldStart),
    };
  }

  failed(code: string): void {
    if (!this.#isOver) this.#record.code = code;
  }

  end(status: number, code?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const record = this.#record;
    record.status = status;
    if (code !== undefined) record.code = code;
    record.endedAtMs = this.#clock.now();
    for (const span of this.#spans) span.ended(record);
    for (const sink of this.#sinks) sink.ended?.(record);
  }
}
