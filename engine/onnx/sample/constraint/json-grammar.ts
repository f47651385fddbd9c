import { maybe, separated, type GrammarNode } from "./grammar.ts";

/** What may stand between the parts of JSON. */
export const SPACE: GrammarNode = { rule: "space" };

/**
 * JSON (RFC 8259), with an end to what a model may repeat for ever without getting anywhere: between two parts
 * there is nothing, one space, or a line break with up to 32 spaces or tabs; numbers have at most 21 digits
 * before the point, 24 after it and 3 in the exponent, which is room for every double.
 */
export const JSON_RULES: Record<string, GrammarNode> = {
  space: { oneOf: [{ text: "" }, { text: " " }, lineBreak()] },
  value: {
    oneOf: [
      { rule: "object" },
      { rule: "array" },
      { rule: "string" },
      { rule: "number" },
      { text: "true" },
      { text: "false" },
      { text: "null" },
    ],
  },
  object: objectOf({ rule: "string" }, { rule: "value" }),
  array: arrayOf({ rule: "value" }),
  string: { all: [{ text: '"' }, { many: { rule: "letter" } }, { text: '"' }] },
  letter: { oneOf: [...utf8(), { all: [{ text: "\\" }, escape()] }] },
  /** As it is, or escaped by one letter. */
  "plain-letter": { oneOf: [...utf8(), { all: [{ text: "\\" }, shortEscape()] }] },
  integer: { all: [maybe({ text: "-" }), { rule: "natural" }] },
  natural: { oneOf: [{ text: "0" }, { all: [{ bytes: [[0x31, 0x39]] }, digits(20)] }] },
  number: { all: [{ rule: "integer" }, maybe(fraction()), maybe(exponent())] },
};

/** An object with any number of members. */
export function objectOf(key: GrammarNode, value: GrammarNode): GrammarNode {
  const member = { all: [key, SPACE, { text: ":" }, SPACE, value, SPACE] };
  const members = separated(member, { all: [{ text: "," }, SPACE] });
  return { all: [{ text: "{" }, SPACE, maybe(members), { text: "}" }] };
}

/** An array with any number of items. */
export function arrayOf(item: GrammarNode): GrammarNode {
  const items = separated({ all: [item, SPACE] }, { all: [{ text: "," }, SPACE] });
  return { all: [{ text: "[" }, SPACE, maybe(items), { text: "]" }] };
}

function lineBreak(): GrammarNode {
  const indentation = {
    bytes: [
      [0x20, 0x20],
      [0x09, 0x09],
    ] as [number, number][],
  };
  return { all: [maybe({ text: "\r" }), { text: "\n" }, { many: indentation, atMost: 32 }] };
}

function shortEscape(): GrammarNode {
  return { oneOf: [...'"\\/bfnrt'].map((letter) => ({ text: letter })) };
}

function escape(): GrammarNode {
  const hex: GrammarNode = {
    bytes: [
      [0x30, 0x39],
      [0x41, 0x46],
      [0x61, 0x66],
    ],
  };
  return { oneOf: [shortEscape(), { all: [{ text: "u" }, hex, hex, hex, hex] }] };
}

/** Characters that stand for themselves: all but control characters, `"` and `\` (Unicode 16, table 3-7). */
function utf8(): GrammarNode[] {
  const tail: GrammarNode = { bytes: [[0x80, 0xbf]] };
  const sequence = (...ranges: [number, number][]): GrammarNode => ({
    all: ranges.map((range) => ({ bytes: [range] })),
  });
  return [
    {
      bytes: [
        [0x20, 0x21],
        [0x23, 0x5b],
        [0x5d, 0x7f],
      ],
    },
    { all: [{ bytes: [[0xc2, 0xdf]] }, tail] },
    { all: [sequence([0xe0, 0xe0], [0xa0, 0xbf]), tail] },
    {
      all: [
        {
          bytes: [
            [0xe1, 0xec],
            [0xee, 0xef],
          ],
        },
        tail,
        tail,
      ],
    },
    { all: [sequence([0xed, 0xed], [0x80, 0x9f]), tail] },
    { all: [sequence([0xf0, 0xf0], [0x90, 0xbf]), tail, tail] },
    { all: [{ bytes: [[0xf1, 0xf3]] }, tail, tail, tail] },
    { all: [sequence([0xf4, 0xf4], [0x80, 0x8f]), tail, tail] },
  ];
}

function digits(atMost: number): GrammarNode {
  return { many: { bytes: [[0x30, 0x39]] }, atMost };
}

function fraction(): GrammarNode {
  return { all: [{ text: "." }, { bytes: [[0x30, 0x39]] }, digits(23)] };
}

function exponent(): GrammarNode {
  const sign: GrammarNode = { oneOf: [{ text: "+" }, { text: "-" }, { text: "" }] };
  return { all: [{ oneOf: [{ text: "e" }, { text: "E" }] }, sign, { bytes: [[0x30, 0x39]] }, digits(2)] };
}
