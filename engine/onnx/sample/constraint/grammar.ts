/**
 * What a text may be, as plain data: it travels to the engine's worker in a request. Grammars speak of bytes,
 * for tokens may begin and end inside a character.
 *
 * @module
 */

export type GrammarNode =
  /** One byte in one of the ranges, both ends included. */
  | { bytes: [low: number, high: number][] }
  /** Exactly this, in UTF-8. */
  | { text: string }
  /** One after the other. */
  | { all: GrammarNode[] }
  | { oneOf: GrammarNode[] }
  /** Some of them. `atLeast` default: 0; `atMost` default: no end. */
  | { many: GrammarNode; atLeast?: number; atMost?: number }
  /** A rule by name; rules may use themselves, though not as the first thing. */
  | { rule: string };

/**
 * The text must match `root` from its first byte to its last.
 *
 * @example
 * // "yes" or "no"
 * const grammar: Grammar = { root: { oneOf: [{ text: "yes" }, { text: "no" }] }, rules: {} };
 */
export interface Grammar {
  root: GrammarNode;
  rules: Record<string, GrammarNode>;
}

export function maybe(node: GrammarNode): GrammarNode {
  return { many: node, atMost: 1 };
}

/** `item` between once and any number of times, with `separator` between. */
export function separated(item: GrammarNode, separator: GrammarNode): GrammarNode {
  return { all: [item, { many: { all: [separator, item] } }] };
}
