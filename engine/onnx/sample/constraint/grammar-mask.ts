import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { Acceptor, type AcceptorState } from "./acceptor.ts";
import type { Grammar } from "./grammar.ts";
import type { TokenMask } from "./token-mask.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Masks of places seen that are kept: a bit a token, so 19 kB each for 150,000 tokens. */
const MOST_MASKS = 512;

/** A grammar over a vocabulary, shared by all requests that have the same one. */
export class GrammarMasks {
  readonly acceptor: Acceptor;
  readonly vocabulary: Vocabulary;
  readonly #masks = new Map<AcceptorState, Uint8Array>();

  constructor(grammar: Grammar, vocabulary: Vocabulary) {
    this.acceptor = new Acceptor(grammar);
    this.vocabulary = vocabulary;
  }

  /** A bit for each token that may come at a place of the text. */
  allowedAt(place: AcceptorState, tokens: number): Uint8Array {
    const known = this.#masks.get(place);
    if (known !== undefined) return known;
    const mask = this.#work(place, tokens);
    if (this.#masks.size >= MOST_MASKS) this.#masks.clear();
    this.#masks.set(place, mask);
    return mask;
  }

  #work(place: AcceptorState, tokens: number): Uint8Array {
    const { ids, bytes, shared } = this.vocabulary;
    const mask = new Uint8Array(Math.ceil(tokens / 8));
    const places = [place];
    /** Tokens that share more than this many bytes with the one before fail as it did. */
    let dead = Infinity;
    for (let at = 0; at < ids.length; at++) {
      const begin = shared[at] ?? 0;
      if (begin > dead) continue;
      dead = this.#follow(places, bytes[at] ?? NOTHING, begin);
      const id = ids[at] ?? 0;
      if (dead === Infinity && id < tokens) mask[id >> 3] = (mask[id >> 3] ?? 0) | (1 << (id & 7));
    }
    return mask;
  }

  /** Fills in the place after each byte; returns which byte cannot come, or Infinity. */
  #follow(places: AcceptorState[], bytes: Uint8Array, begin: number): number {
    for (let at = begin; at < bytes.length; at++) {
      const from = places[at];
      const next = from && this.acceptor.next(from, bytes[at] ?? 0);
      if (next === undefined) return at;
      places[at + 1] = next;
    }
    return Infinity;
  }
}

const NOTHING = new Uint8Array();

/** Keeps one request to its grammar. */
export class GrammarMask implements TokenMask {
  readonly #masks: GrammarMasks;
  readonly #stopIds: readonly number[];
  #place: AcceptorState;

  constructor(masks: GrammarMasks, stopIds: readonly number[]) {
    this.#masks = masks;
    this.#stopIds = stopIds;
    this.#place = masks.acceptor.start;
  }

  get complete(): boolean {
    return this.#place.complete;
  }

  apply(row: Float32Array): Float32Array {
    const allowed = this.#allowed(row.length);
    const masked = new Float32Array(row.length);
    let total = 0;
    for (let id = 0; id < row.length; id++) {
      if (!isSet(allowed, id)) continue;
      masked[id] = row[id] ?? 0;
      total += row[id] ?? 0;
    }
    if (total > 0) return masked.map((probability) => probability / total);
    // All that is allowed is too unlikely for a float32: any of it will do.
    const count = allowed.reduce((sum, byte) => sum + bitsOf(byte), 0);
    if (count === 0) throw noToken();
    return masked.map((_, id) => (isSet(allowed, id) ? 1 / count : 0));
  }

  take(id: number): void {
    for (const byte of this.#masks.vocabulary.bytesOf(id)) {
      const next = this.#masks.acceptor.next(this.#place, byte);
      if (next === undefined) return;
      this.#place = next;
    }
  }

  /** A stop token may come where the text may end and nowhere else, whatever it writes. */
  #allowed(tokens: number): Uint8Array {
    const allowed = this.#masks.allowedAt(this.#place, tokens).slice();
    for (const id of this.#stopIds) {
      if (id >= tokens) continue;
      const others = (allowed[id >> 3] ?? 0) & ~(1 << (id & 7));
      allowed[id >> 3] = this.#place.accepts ? others | (1 << (id & 7)) : others;
    }
    return allowed;
  }
}

function isSet(bits: Uint8Array, id: number): boolean {
  return ((bits[id >> 3] ?? 0) & (1 << (id & 7))) !== 0;
}

function bitsOf(byte: number): number {
  return byte === 0 ? 0 : (byte & 1) + bitsOf(byte >> 1);
}

function noToken(): SpotterError {
  return new SpotterError("engine_failed", "No token of this model can go on with what the answer must be.", {
    hint: "Ask without response_format, tool_choice or strict tools.",
  });
}
