import type { OpenAiErrorBody } from "../../sdk/schema/chat.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { SpotterError } from "../../sdk/schema/errors.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import type { Control } from "../control.ts";
import { SSE_HEADERS } from "../events/sse.ts";
import type { Admission } from "../keys/limits.ts";
import type { Observation } from "../observability/observer.ts";
import { Attempt, type Asker } from "./attempt.ts";
import { holdMs, HOLDS, waitedTooLong } from "./hold.ts";
import { openAiErrorBody } from "./openai-errors.ts";
import type { Beating } from "./pulse.ts";
import { readyReplicas, type ReadyReplica } from "./ready-replicas.ts";
import { brokenOff, silent, unreachable } from "./replica-errors.ts";
import type { Sink } from "./sink.ts";
import type { Seat, Visitor } from "./slots.ts";
import type { UpstreamError } from "./upstream-error.ts";
import type { Upstreams } from "./upstream.ts";
import { countedTokens, estimatedTokens, tellTokens, usageOfAnswer, type CountedTokens } from "./usage.ts";

export interface ExchangeParams {
  control: Control;
  upstreams: Upstreams;
  endpoint: Endpoint;
  /** The engine's path. */
  path: string;
  /** Let go of once no other replica may take over: a long stream outlives its prompt. */
  question: Question | undefined;
  isStream: boolean;
  /** Choices that were asked for. */
  choices: number;
  admission: Admission;
  seen: Observation;
  sink: Sink;
  /** Writes an error as a whole answer; nothing was written yet. */
  answerError: (error: SpotterError) => void;
  /** An error as one event. */
  errorEvent: (body: OpenAiErrorBody) => Buffer;
}

/** What it takes to ask a replica. */
interface Question {
  body: Uint8Array;
  /** Hash of the conversation. */
  affinity: () => number;
}

const NO_BYTES = Buffer.alloc(0);
/** Usage stands at the end of an answer. */
const TAIL_BYTES = 1_024;
const PING = Buffer.from(": ping\n\n");
const PING_EVERY_MS = 15_000;
/** A replica that says nothing for this long is taken for dead; a client that takes nothing for gone. */
export const SILENCE_MS = 600_000;
/** How long a replica may hold on to a request whose answer is complete. */
const LINGER_MS = 5_000;

/**
 * Carries one admitted request through: waits for a slot, asks the replica, passes the answer on at the
 * client's pace, and gives the slot back exactly once. Throws only before anything is held: `queue_full`,
 * `endpoint_failed`. What goes wrong later is part of the answer.
 */
export function exchange(params: ExchangeParams): void {
  new Exchange(params).begin();
}

class Exchange implements Visitor, Asker, Beating {
  readonly #params: ExchangeParams;
  readonly #bodyBytes: number;
  readonly #startedAtMs: number;
  readonly #isCold: boolean;
  #seat: Seat | undefined;
  #attempt: Attempt | undefined;
  #isHeadSent = false;
  /** Something of the answer itself went out: no other replica can take over. */
  #hasPassed = false;
  #isRetried = false;
  /** The answer is large and goes out as it comes: an error can no longer be said, only shown. */
  #isInPieces = false;
  #tail: Buffer = NO_BYTES;
  /** The client has all it gets. */
  #isAnswered = false;
  #isOver = false;
  pulseIndex: number | undefined;
  #writtenAtMs: number;
  #heardAtMs: number;

  constructor(params: ExchangeParams) {
    this.#params = params;
    this.#bodyBytes = params.question?.body.byteLength ?? 0;
    this.#startedAtMs = params.control.clock.now();
    this.#writtenAtMs = this.#startedAtMs;
    this.#heardAtMs = this.#startedAtMs;
    this.#isCold = readyReplicas(params.endpoint).length === 0;
  }

  begin(): void {
    const { control, endpoint, seen, sink } = this.#params;
    this.#seat = control.slots.enter(endpoint, this);
    const gone = () => this.#gone();
    const drain = () => this.#attempt?.resume();
    sink.onGone = gone;
    sink.onDrain = drain;
    // What failed within `enter` could not give back what it did not have yet.
    if (this.#isOver) return this.ended();
    control.pulse.add(this);
    if (this.#attempt !== undefined) return;
    seen.queued();
    // Where no wait is allowed at all, not even until the next beat.
    this.beat();
  }

  affinity(): number {
    return this.#params.question?.affinity() ?? 0;
  }

  admitted(replica: ReadyReplica): void {
    const { control, seen, choices } = this.#params;
    seen.admitted({ replica: replica.jobId, coldStart: this.#isCold });
    this.#heardAtMs = control.clock.now();
    const attempt = new Attempt(this, choices);
    this.#attempt = attempt;
    if (replica.authorization !== undefined) this.#send(attempt, replica);
    else void this.#sendWithKey(attempt, replica);
  }

  turnedAway(error: SpotterError): void {
    this.#fail(error);
  }

  events(bytes: Buffer, isLast: boolean): void {
    const { sink } = this.#params;
    this.#openStream();
    this.#passed();
    if (isLast) {
      sink.end(bytes);
      this.#answered(200);
    } else if (!sink.write(bytes)) this.#attempt?.pause();
  }

  answer(status: number, headers: Record<string, string>, body: Buffer): void {
    if (this.#isHeadSent) return this.#fail(brokenOff(new Error("The replica answered a stream with JSON.")));
    this.#head(status, { ...headers, "content-length": String(body.length) });
    this.#passed();
    this.#params.sink.end(body);
    this.#answered(status, undefined, usageOfAnswer(body));
  }

  piece(status: number, headers: Record<string, string>, bytes: Buffer): void {
    if (!this.#hasPassed && this.#isHeadSent)
      return this.#fail(brokenOff(new Error("The replica answered a stream with JSON.")));
    if (!this.#isHeadSent) this.#head(status, headers);
    this.#isInPieces = true;
    this.#tail = bytes.length < TAIL_BYTES ? Buffer.concat([this.#tail, bytes]) : bytes.subarray(-TAIL_BYTES);
    this.#passed();
    if (!this.#params.sink.write(bytes)) this.#attempt?.pause();
  }

  refused({ status, body }: UpstreamError, headers: Record<string, string>): void {
    const { sink, errorEvent } = this.#params;
    const bytes = Buffer.from(JSON.stringify(body));
    if (this.#isHeadSent) sink.end(errorEvent(body));
    else {
      const { "content-type": _type, ...passed } = headers;
      const length = String(bytes.length);
      this.#head(status, { ...passed, "content-type": "application/json", "content-length": length });
      sink.end(bytes);
    }
    this.#answered(status, body.error.code ?? "upstream_error");
    this.ended();
  }

  ended(): void {
    if (this.#isInPieces && !this.#isAnswered) {
      this.#params.sink.end();
      this.#answered(200, undefined, usageOfAnswer(this.#tail));
    }
    this.#isOver = true;
    this.#params.control.pulse.remove(this);
    this.#seat?.leave();
  }

  lost(cause: Error): void {
    if (!this.#hasPassed && !this.#isRetried) {
      this.#isRetried = true;
      if (this.#seat?.moveOn() === true) return;
    }
    this.#fail(this.#hasPassed ? brokenOff(cause) : unreachable(cause));
  }

  beat(): void {
    const { control, endpoint, isStream, sink } = this.#params;
    const nowMs = control.clock.now();
    const { holds = HOLDS } = control.config;
    if (this.#isAnswered) {
      if (nowMs - this.#writtenAtMs >= LINGER_MS) this.#drop();
      return;
    }
    if (this.#attempt === undefined) {
      const limitMs = holdMs(isStream, scalingOf(endpoint.scaling).holdMs, holds);
      const isUp = readyReplicas(control.routes.find(endpoint.name) ?? endpoint).length > 0;
      if (nowMs - this.#startedAtMs >= limitMs)
        return this.#fail(waitedTooLong(endpoint.name, isUp, endpoint.failure));
    } else if (this.#isSilent(this.#attempt, nowMs)) return;
    if (!isStream || this.#isInPieces) return;
    if (!this.#isHeadSent && nowMs - this.#startedAtMs < holds.headersMs) return;
    if (this.#isHeadSent && (nowMs - this.#writtenAtMs < PING_EVERY_MS || this.#attempt?.isPaused)) return;
    this.#openStream();
    this.#writtenAtMs = nowMs;
    sink.write(PING);
  }

  /** Whether it was given up, after ten minutes in which one side took or gave nothing. */
  #isSilent(attempt: Attempt, nowMs: number): boolean {
    if (attempt.isHeard) {
      attempt.isHeard = false;
      this.#heardAtMs = nowMs;
    }
    if (nowMs - this.#heardAtMs < SILENCE_MS) return false;
    if (attempt.isPaused) {
      this.#params.sink.cut();
      this.#gone();
    } else this.#fail(silent());
    return true;
  }

  async #sendWithKey(attempt: Attempt, replica: ReadyReplica): Promise<void> {
    try {
      const key = await this.#params.control.jobTokens.accessKey(replica.jobId);
      replica.authorization = `Bearer ${key ?? ""}`;
      if (!this.#isOver) this.#send(attempt, replica);
    } catch (error) {
      attempt.failed(error);
    }
  }

  #send(attempt: Attempt, { address, authorization = "" }: ReadyReplica): void {
    const { upstreams, seen, path, question } = this.#params;
    const body = question?.body ?? NO_BYTES;
    const headers = ["content-type", "application/json", "authorization", authorization];
    const watched = seen.upstreamHeaders();
    for (const name in watched) headers.push(name, watched[name] ?? "");
    upstreams.send({ address, path, body, headers }, attempt);
  }

  #openStream(): void {
    if (!this.#isHeadSent) this.#head(200, SSE_HEADERS);
  }

  #head(status: number, headers: Record<string, string>): void {
    const { sink, seen, admission } = this.#params;
    this.#isHeadSent = true;
    const told = seen.responseHeaders();
    // Also while it still waits.
    if (this.#isCold) told["x-spotter-cold-start"] = "true";
    sink.head(status, headers, told, admission.headers);
  }

  #passed(): void {
    if (this.#params.isStream) this.#writtenAtMs = this.#params.control.clock.now();
    if (this.#hasPassed) return;
    this.#hasPassed = true;
    this.#params.question = undefined;
    this.#params.seen.firstByte();
  }

  #fail(error: SpotterError): void {
    const { sink, errorEvent, answerError } = this.#params;
    if (this.#isInPieces) sink.cut();
    else if (this.#isHeadSent) sink.end(errorEvent(openAiErrorBody(error)));
    else answerError(error);
    this.#answered(error.status, error.code);
    this.#drop();
  }

  #gone(): void {
    if (this.#isOver) return;
    if (!this.#isAnswered) this.#answered(499, "user_cancelled");
    this.#drop();
  }

  /** Ends the replica's work, if it still works, and gives the slot back. */
  #drop(): void {
    this.#attempt?.abort();
    this.ended();
  }

  /** The client has all it gets; what it took is counted. */
  #answered(status: number, code?: string, usage?: CountedTokens): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { seen, admission, control } = this.#params;
    this.#writtenAtMs = control.clock.now();
    const relay = this.#attempt?.relay;
    const isStarted = this.#hasPassed || (status === 499 && this.#attempt !== undefined);
    const guess = isStarted ? estimatedTokens(this.#bodyBytes, relay?.events ?? 0) : undefined;
    tellTokens({ seen, admission, told: usage ?? countedTokens(relay?.usage()), guess });
    seen.end(status, code);
  }
}
