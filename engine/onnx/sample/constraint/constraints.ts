import type { Grammar } from "./grammar.ts";
import { GrammarMask, GrammarMasks } from "./grammar-mask.ts";
import type { TokenMask } from "./token-mask.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Grammars kept with what was worked out for them, for the next request that brings the same. */
const MOST_GRAMMARS = 16;

/** Turns the grammars of requests into masks. The vocabulary is read when the first one comes. */
export class Constraints {
  readonly #tokenBytes: () => Promise<(Uint8Array | undefined)[]>;
  readonly #known = new Map<string, GrammarMasks>();
  #vocabulary: Promise<Vocabulary> | undefined;

  /** @param tokenBytes reads what each token writes, by id */
  constructor(tokenBytes: () => Promise<(Uint8Array | undefined)[]>) {
    this.#tokenBytes = tokenBytes;
  }

  /** @throws what reading the tokens does. */
  async maskOf(grammar: Grammar, stopIds: readonly number[]): Promise<TokenMask> {
    this.#vocabulary ??= this.#tokenBytes().then((bytes) => new Vocabulary(bytes));
    const vocabulary = await this.#vocabulary;
    const key = JSON.stringify(grammar);
    const masks = this.#known.get(key) ?? new GrammarMasks(grammar, vocabulary);
    // Last in, last out.
    this.#known.delete(key);
    this.#known.set(key, masks);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_GRAMMARS && oldest !== undefined) this.#known.delete(oldest);
    return new GrammarMask(masks, stopIds);
  }
}
