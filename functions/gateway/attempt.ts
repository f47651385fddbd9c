import type { Dispatcher } from "undici";
import type { UpstreamHandler } from "./upstream.ts";
import { SseRelay } from "./sse-relay.ts";
import { eventError, upstreamError, type UpstreamError } from "./upstream-error.ts";

/** Answers up to this size go out in one piece, with their length; larger ones as they come. */
const BUFFERED_BYTES = 256 * 1024;
const PASSED_HEADERS = ["content-type", "retry-after", "x-should-retry"];

/** Who asked. It hears of the answer piece by piece; nothing more after `answer`, `refused`, `ended` or `lost`. */
export interface Asker {
  /** Whole events of a stream. `isLast`: the answer is complete with them. */
  events(bytes: Buffer, isLast: boolean): void;
  /** A complete answer. */
  answer(status: number, headers: Record<string, string>, body: Buffer): void;
  /** A piece of an answer too large for one; status and headers with the first. */
  piece(status: number, headers: Record<string, string>, bytes: Buffer): void;
  /** An error of the engine, as a whole answer or in the middle of a stream. */
  refused(error: UpstreamError, headers: Record<string, string>): void;
  /** The replica is done with this request. */
  ended(): void;
  /** The replica refused, reset, or ended its answer before it was complete. */
  lost(cause: Error): void;
}

type Kind = "events" | "error" | "whole" | "pieces";

/** One try at one replica: takes apart what comes back. */
export class Attempt implements UpstreamHandler {
  /** Of an answer that is a stream. */
  relay: SseRelay | undefined;
  /** Something came since this was last set to false. */
  isHeard = false;
  readonly #asker: Asker;
  readonly #choices: number;
  #controller: Dispatcher.DispatchController | undefined;
  #kind: Kind = "whole";
  #status = 0;
  #headers: Record<string, string> = {};
  #parts: Buffer[] = [];
  #size = 0;
  #flushes = false;
  #isAborted = false;

  constructor(asker: Asker, choices: number) {
    this.#asker = asker;
    this.#choices = choices;
  }

  get isPaused(): boolean {
    return this.#controller?.paused === true;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  /** Ends the replica's work on it; the asker hears nothing more. */
  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#controller?.abort(new Error("No longer wanted."));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isAborted) controller.abort(new Error("No longer wanted."));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    for (const name of PASSED_HEADERS) {
      const value = headers[name];
      if (typeof value === "string") this.#headers[name] = value;
    }
    if (status >= 400) this.#kind = "error";
    else if (this.#headers["content-type"]?.startsWith("text/event-stream")) {
      this.#kind = "events";
      this.relay = new SseRelay({ choices: this.#choices });
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.isHeard = true;
    if (this.#isAborted) return;
    if (this.#kind === "pieces") return this.#asker.piece(this.#status, this.#headers, chunk);
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.relay !== undefined) return this.#flushSoon(this.relay);
    if (this.#size <= BUFFERED_BYTES) return;
    const first = this.#take();
    if (this.#kind === "error") return this.#refuse(first);
    this.#kind = "pieces";
    this.#asker.piece(this.#status, this.#headers, first);
  }

  onResponseEnd(): void {
    if (this.#isAborted) return;
    if (this.relay !== undefined) return this.#endEvents(this.relay);
    if (this.#kind === "error") return this.#refuse(this.#take());
    if (this.#kind === "whole") this.#asker.answer(this.#status, this.#headers, this.#take());
    this.#asker.ended();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.failed(error);
  }

  failed(error: unknown): void {
    if (this.#isAborted) return;
    // What came together with the end of the connection comes first.
    if (this.relay !== undefined && !this.#flush(this.relay)) return;
    if (this.relay?.isOver) this.#asker.ended();
    else this.#asker.lost(asError(error));
  }

  /** One write for all that one read brought, however many pieces it has. */
  #flushSoon(relay: SseRelay): void {
    if (this.#flushes) return;
    this.#flushes = true;
    queueMicrotask(() => this.#flush(relay));
  }

  /** False: nothing more is to be said. */
  #flush(relay: SseRelay): boolean {
    this.#flushes = false;
    if (this.#isAborted) return false;
    if (this.#parts.length === 0) return true;
    if (relay.isOver) return this.#endJunk();
    try {
      this.#pass(relay, relay.feed(this.#take()));
    } catch (error) {
      this.abort();
      this.#asker.lost(asError(error));
    }
    return !this.#isAborted;
  }

  #pass(relay: SseRelay, events: Buffer | undefined): void {
    const { errorText, isOver } = relay;
    if (events !== undefined) this.#asker.events(events, isOver && errorText === undefined);
    if (errorText === undefined) return;
    this.abort();
    this.#asker.refused(eventError(errorText), this.#headers);
  }

  /** Whatever follows `[DONE]` is nobody's business. */
  #endJunk(): false {
    this.abort();
    this.#asker.ended();
    return false;
  }

  #endEvents(relay: SseRelay): void {
    if (!this.#flush(relay)) return;
    if (relay.isOver) return this.#asker.ended();
    this.#pass(relay, relay.end());
    if (this.#isAborted) return;
    if (relay.isOver) this.#asker.ended();
    else this.#asker.lost(new Error("The stream ended before its last choice did."));
  }

  #refuse(body: Buffer): void {
    this.abort();
    this.#asker.refused(upstreamError(this.#status, body.toString()), this.#headers);
  }

  #take(): Buffer {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
