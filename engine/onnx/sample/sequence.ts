import type { GenerateRequest, TokenAlternative } from "../engine-api.ts";
import { alternatives, logOf, pickToken } from "./sampler.ts";
import { seededUniform } from "./seeded.ts";

/** What happens to a request while it is decoded. Exactly one of the last two is called, once. */
export interface SequenceListener {
  onToken(id: number, logprob: number, alternatives: TokenAlternative[] | undefined): void;
  onEnd(reason: "stop" | "length"): void;
  onError(error: Error): void;
}

/** A request being decoded. Its slot is its place among the live sequences. */
export class Sequence {
  readonly request: GenerateRequest;
  readonly listener: SequenceListener;
  /** Prompt and what was generated. */
  readonly ids: number[];
  /** How many of `ids` are in the cache. */
  cached = 0;
  readonly #uniform: () => number;
  readonly #stopIds: ReadonlySet<number>;
  readonly #end: number;

  /** `maxPositions`: the longest sequence the model can continue. */
  constructor(request: GenerateRequest, listener: SequenceListener, maxPositions: number) {
    this.request = request;
    this.listener = listener;
    this.ids = [...request.promptIds];
    this.#uniform = seededUniform(request.seed);
    this.#stopIds = new Set(request.stopIds);
    this.#end = Math.min(request.promptIds.length + request.maxNewTokens, maxPositions);
  }

  /** The token to decode next. */
  get next(): number {
    return this.ids[this.cached] ?? 0;
  }

  /** Tokens that can be put into the cache before the last one, whose successor is wanted. */
  get unread(): number {
    return this.ids.length - 1 - this.cached;
  }

  /** Samples the next token from a row of probabilities; returns why the sequence ends, if it does. */
  take(row: Float32Array): "stop" | "length" | undefined {
    const { request } = this;
    const id = pickToken(row, request, this.#uniform());
    const top = request.topLogprobs ? alternatives(row, request.topLogprobs) : undefined;
    this.ids.push(id);
    this.listener.onToken(id, logOf(row[id] ?? 0), top);
    if (this.#stopIds.has(id)) return "stop";
    return this.ids.length >= this.#end ? "length" : undefined;
  }

  /** How many leading tokens another sequence has in the cache that this one wants there as well. */
  sharedWith(other: Sequence): number {
    const most = Math.min(this.ids.length - 1, other.cached);
    let shared = 0;
    while (shared < most && this.ids[shared] === other.ids[shared]) shared++;
    return shared;
  }
}
