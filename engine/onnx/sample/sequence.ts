import type { GenerateRequest, PromptReport, TokenAlternative } from "../engine-api.ts";
import { Adjustment } from "./adjustment.ts";
import type { TokenMask } from "./constraint/token-mask.ts";
import { PromptScores } from "./prompt-scores.ts";
import { alternatives, logOf, pickToken, probabilityTemperature } from "./sampler.ts";
import { temper } from "./row.ts";
import { seededUniform } from "./seeded.ts";

/** What happens to a request while it is decoded. Exactly one of the last two is called, once. */
export interface SequenceListener {
  /** Once, when the prompt is read: before the first token, or before the end where none is wanted. */
  onPrompt?(report: PromptReport): void;
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
  /** How many of them were taken from another sequence's. */
  reused = 0;
  /** What the graph's logits are multiplied by before its softmax. */
  readonly inverseTemperature: number;
  readonly #adjustment: Adjustment | undefined;
  readonly #prompt: PromptScores | undefined;
  #reported = false;
  readonly #uniform: () => number;
  readonly #stopIds: ReadonlySet<number>;
  readonly #end: number;
  readonly #mask: TokenMask | undefined;

  /** `maxPositions`: the longest sequence the model can continue. `mask`: what may come of the answer. */
  constructor(request: GenerateRequest, listener: SequenceListener, maxPositions: number, mask?: TokenMask) {
    this.#mask = mask;
    this.request = request;
    this.listener = listener;
    this.ids = [...request.promptIds];
    this.#uniform = seededUniform(request.seed);
    this.#stopIds = new Set(request.stopIds);
    this.#end = Math.min(request.promptIds.length + request.maxNewTokens, maxPositions);
    // What a grammar allows may be far less likely than what it does not: cooled first, it would be nothing.
    const temperature = mask === undefined ? probabilityTemperature(request.temperature) : 1;
    // The graph's softmax is at one temperature: what is reported and what is sampled may differ.
    const apart = request.modelLogprobs === true && temperature !== 1;
    if (apart || Adjustment.isWanted(request)) this.#adjustment = new Adjustment({ ...request, temperature });
    this.inverseTemperature = this.#adjustment === undefined ? 1 / temperature : 1;
    if (request.promptLogprobs !== undefined) this.#prompt = new PromptScores(request);
  }

  /** Whether it is sampled from adjusted logits, and not from the graph's probabilities. */
  get needsLogits(): boolean {
    return this.#adjustment !== undefined;
  }

  /** The token to decode next. */
  get next(): number {
    return this.ids[this.cached] ?? 0;
  }

  /** Tokens that can be put into the cache before the last one, whose successor is wanted. */
  get unread(): number {
    return this.ids.length - 1 - this.cached;
  }

  /** Whether every token of the prompt that is read is to be scored. */
  get scores(): boolean {
    return this.#prompt?.complete === false;
  }

  /** Scores the next token of the prompt. Returns "length" where nothing more is wanted. */
  score(row: Float32Array): "length" | undefined {
    this.#prompt?.take(row);
    if (this.scores || this.ids.length < this.#end) return undefined;
    this.#report();
    return "length";
  }

  /**
   * Takes what a run says about the token after the cached ones: the next one's probabilities, and its logits
   * where it {@link needsLogits}; they are overwritten. Returns why the sequence ends, if it does.
   *
   * @throws SpotterError `engine_failed` when the request's grammar allows no token.
   */
  take(row: Float32Array, logits: Float32Array | undefined): "stop" | "length" | undefined {
    if (this.scores) return this.score(row);
    if (this.cached < this.ids.length) return undefined;
    this.#report();
    return this.ids.length < this.#end ? this.#sample(row, logits) : "length";
  }

  #sample(row: Float32Array, logits: Float32Array | undefined): "stop" | "length" | undefined {
    const { request } = this;
    const drawn = (logits && this.#adjustment?.toProbabilities(logits)) ?? row;
    const id = pickToken(this.#masked(drawn), request, this.#uniform());
    const shown = request.modelLogprobs === true ? row : drawn;
    const top = request.topLogprobs ? alternatives(shown, request.topLogprobs) : undefined;
    this.ids.push(id);
    this.#adjustment?.count(id);
    this.listener.onToken(id, logOf(shown[id] ?? 0), top);
    if (this.#stopIds.has(id)) return "stop";
    this.#mask?.take(id);
    if (this.#mask?.complete === true) return "stop";
    return this.ids.length >= this.#end ? "length" : undefined;
  }

  #masked(row: Float32Array): Float32Array {
    if (this.#mask === undefined) return row;
    const allowed = this.#mask.apply(row);
    temper(allowed, probabilityTemperature(this.request.temperature));
    return allowed;
  }

  #report(): void {
    if (this.#reported) return;
    this.#reported = true;
    this.listener.onPrompt?.({ cachedTokens: this.reused, ...this.#prompt?.report() });
  }

  /** Whether it may begin with what others read; a prompt that is scored must be read itself. */
  get shares(): boolean {
    return this.#prompt === undefined;
  }

  /** How many leading tokens another sequence has in the cache that this one wants there as well. */
  sharedWith(other: Sequence): number {
    const most = Math.min(this.ids.length - 1, other.cached);
    let shared = 0;
    while (shared < most && this.ids[shared] === other.ids[shared]) shared++;
    return shared;
  }
}
