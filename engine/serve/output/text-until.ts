import type { GrammarNode } from "../../onnx/sample/constraint/grammar.ts";

export interface TextUntilOptions {
  /** What comes after `end`. Default: nothing. */
  rest?: GrammarNode;
  /** The text may also end before. Default: false. */
  mayEnd?: boolean;
}

/**
 * Rules for any bytes up to and including the first `end`: Knuth, Morris and Pratt's automaton, a rule for each
 * number of bytes of `end` that were just read. Begin with the rule `name0`.
 */
export function textUntil(
  end: string,
  name: string,
  { rest = { text: "" }, mayEnd = false }: TextUntilOptions = {},
): Record<string, GrammarNode> {
  const bytes = [...new TextEncoder().encode(end)];
  const rules: Record<string, GrammarNode> = {};
  for (const read of bytes.keys()) {
    const goesOn = [...new Set(bytes)].map((byte) => ({
      byte,
      next: matched([...bytes.slice(0, read), byte], bytes),
    }));
    const steps = goesOn
      .filter(({ next }) => next > 0)
      .map(({ byte, next }): GrammarNode => {
        const after: GrammarNode = next === bytes.length ? rest : { rule: `${name}${next}` };
        return { all: [{ bytes: [[byte, byte]] }, after] };
      });
    const others = bytesWithout(goesOn.filter(({ next }) => next > 0).map(({ byte }) => byte));
    const ends: GrammarNode[] = mayEnd ? [{ text: "" }] : [];
    rules[`${name}${read}`] = {
      oneOf: [...steps, { all: [{ bytes: others }, { rule: `${name}0` }] }, ...ends],
    };
  }
  return rules;
}

/** How many last bytes of a text are the first of `end`. */
function matched(text: readonly number[], end: readonly number[]): number {
  for (let length = Math.min(text.length, end.length); length > 0; length--) {
    if (text.slice(text.length - length).every((byte, at) => byte === end[at])) return length;
  }
  return 0;
}

/** All bytes but some. */
export function bytesWithout(bytes: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  let low = 0;
  for (const byte of [...bytes].sort((a, b) => a - b)) {
    if (byte > low) ranges.push([low, byte - 1]);
    low = byte + 1;
  }
  if (low <= 255) ranges.push([low, 255]);
  return ranges;
}
