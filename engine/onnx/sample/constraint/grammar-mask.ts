import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { Acceptor, type AcceptorState } from "./acceptor.ts";
import type { Grammar } from "./grammar.ts";
import type { TokenMask } from "./token-mask.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Masks of places seen that are kept: a bit a token, so 19 kB each for 150,000 tokens. */
const MOST_MASKS = 512;

/**
 * What one step may cost, in cells looked at: some 100 ms, in which no other request of the engine goes on.
 * Usual schemas take 1,000 for a place not seen before, and none for one that was.
 */
const MOST_WORK = 100_000;
/** What all steps of a request may cost that are not paid for by its tokens, and what each token pays. */
const CREDIT = 10 * MOST_WORK;
const CREDIT_PER_TOKEN = MOST_WORK / 10;

/** What may come at a place, whatever comes after what it is within. */
interface Inner {
  /** A bit for each token that stays within. */
  stays: Uint8Array;
  /** Places in the vocabulary of tokens that may go beyond. */
  leaves: number[];
}

/** A grammar over a vocabulary, shared by all requests that have the same one. */
export class GrammarMasks {
  readonly acceptor: Acceptor;
  readonly vocabulary: Vocabulary;
  readonly #masks = new Map<AcceptorState, Uint8Array>();
  readonly #inner = new Map<AcceptorState, Inner>();

  constructor(grammar: Grammar, vocabulary: Vocabulary) {
    this.acceptor = new Acceptor(grammar);
    this.vocabulary = vocabulary;
  }

  /** A bit for each token that may come at a place of the text. */
  allowedAt(place: AcceptorState, tokens: number): Uint8Array {
    return remembered(this.#masks, place, () => {
      const within = this.acceptor.within(place);
      const { stays, leaves } = remembered(this.#inner, within, () => this.#read(within, tokens));
      if (within === place) return stays;
      const mask = stays.slice();
      for (const at of leaves) if (this.#follow([place], at, 0).isWhole) this.#allow(mask, at, tokens);
      return mask;
    });
  }

  /** Reads the whole vocabulary, each beginning once. */
  #read(within: AcceptorState, tokens: number): Inner {
    const { ids, shared } = this.vocabulary;
    const inner: Inner = { stays: new Uint8Array(Math.ceil(tokens / 8)), leaves: [] };
    const places = [within];
    /** Tokens that share more than this many bytes with the one before fail as it did. */
    let dead = Infinity;
    let leaves = false;
    for (let at = 0; at < ids.length; at++) {
      const begin = shared[at] ?? 0;
      if (begin <= dead) {
        const { isWhole, read } = this.#follow(places, at, begin);
        dead = isWhole ? Infinity : read;
        if (isWhole) this.#allow(inner.stays, at, tokens);
        else leaves = places.slice(1, read + 1).some(({ accepts }) => accepts) || within.accepts;
      }
      if (dead !== Infinity && leaves) inner.leaves.push(at);
    }
    return inner;
  }

  /** Fills in the place after each byte of a token, up to one that cannot come. */
  #follow(places: AcceptorState[], token: number, begin: number): { isWhole: boolean; read: number } {
    const bytes = this.vocabulary.bytes[token] ?? NOTHING;
    for (let at = begin; at < bytes.length; at++) {
      const from = places[at];
      const next = from && this.acceptor.next(from, bytes[at] ?? 0);
      if (next === undefined) return { isWhole: false, read: at };
      places[at + 1] = next;
    }
    return { isWhole: true, read: bytes.length };
  }

  #allow(mask: Uint8Array, token: number, tokens: number): void {
    const id = this.vocabulary.ids[token] ?? 0;
    if (id < tokens) mask[id >> 3] = (mask[id >> 3] ?? 0) | (1 << (id & 7));
  }
}

function remembered<V>(known: Map<AcceptorState, V>, place: AcceptorState, work: () => V): V {
  const before = known.get(place);
  if (before !== undefined) return before;
  const value = work();
  if (known.size >= MOST_MASKS) known.clear();
  known.set(place, value);
  return value;
}

const NOTHING = new Uint8Array();

/** Keeps one request to its grammar. */
export class GrammarMask implements TokenMask {
  readonly #masks: GrammarMasks;
  readonly #stopIds: readonly number[];
  #place: AcceptorState;
  #credit = CREDIT;

  constructor(masks: GrammarMasks, stopIds: readonly number[]) {
    this.#masks = masks;
    this.#stopIds = stopIds;
    this.#place = masks.acceptor.start;
  }

  get complete(): boolean {
    return this.#place.complete;
  }

  apply(row: Float32Array): Float32Array {
    const allowed = this.#bounded(() => this.#allowed(row.length));
    const masked = new Float32Array(row.length);
    let total = 0;
    for (let id = 0; id < row.length; id++) {
      if (!isSet(allowed, id)) continue;
      masked[id] = row[id] ?? 0;
      total += row[id] ?? 0;
    }
    if (total > 0) {
      for (let id = 0; id < row.length; id++) masked[id] = (masked[id] as number) / total;
      return masked;
    }
    // All that is allowed is too unlikely for a float32: any of it will do.
    const count = allowed.reduce((sum, byte) => sum + bitsOf(byte), 0);
    if (count === 0) throw noToken();
    return masked.map((_, id) => (isSet(allowed, id) ? 1 / count : 0));
  }

  take(id: number): void {
    this.#credit += CREDIT_PER_TOKEN;
    this.#bounded(() => {
      for (const byte of this.#masks.vocabulary.bytesOf(id)) {
        const next = this.#masks.acceptor.next(this.#place, byte);
        if (next === undefined) return;
        this.#place = next;
      }
    });
  }

  /** All that one step asks of the acceptor, which other requests use as well. */
  #bounded<T>(work: () => T): T {
    const { acceptor } = this.#masks;
    const most = Math.min(this.#credit, MOST_WORK);
    acceptor.allowance = most;
    const done = work();
    this.#credit -= most - acceptor.allowance;
    return done;
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
