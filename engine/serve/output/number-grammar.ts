import { maybe, type GrammarNode } from "../../onnx/sample/constraint/grammar.ts";
import { invalidSchema, unsupportedSchema } from "./schema-error.ts";

interface Bounds {
  minimum?: unknown;
  maximum?: unknown;
  exclusiveMinimum?: unknown;
  exclusiveMaximum?: unknown;
}

/** What 15 digits can say. */
const LARGEST = 10 ** 15 - 1;
/** Integers between two bounds are written out one by one. */
const MOST_INTEGERS = 1000;

/**
 * Integers of at most 15 digits. Bounds may be beyond those, a minimum of 0 or 1 alone, or two with at most
 * 1,000 integers between them.
 */
export function integerGrammar(bounds: Bounds, path: string): GrammarNode {
  const low = Math.max(
    ...lowest(bounds, path).map(({ value, isOut }) => (isOut ? Math.floor(value) + 1 : Math.ceil(value))),
  );
  const high = Math.min(
    ...highest(bounds, path).map(({ value, isOut }) => (isOut ? Math.ceil(value) - 1 : Math.floor(value))),
  );
  if (low > high) throw invalidSchema(path, "has bounds that no integer is between");
  if (high - low < MOST_INTEGERS) {
    return { oneOf: Array.from({ length: high - low + 1 }, (_, at) => ({ text: String(low + at) })) };
  }
  if (high < LARGEST) throw unsupported(path, bounds);
  if (low <= -LARGEST) return { all: [maybe({ text: "-" }), natural()] };
  if (low === 0) return natural();
  if (low === 1) return positive();
  throw unsupported(path, bounds);
}

/** Numbers with at most 15 digits before the point. The only bound within those is a minimum of 0. */
export function numberGrammar(bounds: Bounds, path: string): GrammarNode {
  const lows = lowest(bounds, path);
  const low = Math.max(...lows.map(({ value }) => value));
  const fits = highest(bounds, path).every(({ value }) => value >= LARGEST + 1);
  if (!fits || (low > -LARGEST - 1 && low !== 0)) throw unsupported(path, bounds);
  if (low === 0 && lows.some(({ value, isOut }) => value === 0 && isOut)) throw unsupported(path, bounds);
  const digit: GrammarNode = { bytes: [[0x30, 0x39]] };
  const fraction = { all: [{ text: "." }, digit, { many: digit, atMost: 14 }] };
  return { all: [low === 0 ? { text: "" } : maybe({ text: "-" }), natural(), maybe(fraction)] };
}

interface Bound {
  value: number;
  /** The bound itself is outside. */
  isOut: boolean;
}

function lowest({ minimum, exclusiveMinimum }: Bounds, path: string): Bound[] {
  return [
    { value: -LARGEST - 1, isOut: true },
    ...bound(minimum, false, `${path}.minimum`),
    ...bound(exclusiveMinimum, true, `${path}.exclusiveMinimum`),
  ];
}

function highest({ maximum, exclusiveMaximum }: Bounds, path: string): Bound[] {
  return [
    { value: LARGEST + 1, isOut: true },
    ...bound(maximum, false, `${path}.maximum`),
    ...bound(exclusiveMaximum, true, `${path}.exclusiveMaximum`),
  ];
}

function bound(value: unknown, isOut: boolean, path: string): Bound[] {
  if (value === undefined) return [];
  if (typeof value !== "number") throw invalidSchema(path, "is no number");
  return [{ value, isOut }];
}

function unsupported(path: string, bounds: Bounds): Error {
  const names = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] as const;
  const name = names.find((each) => bounds[each] !== undefined) ?? "minimum";
  return unsupportedSchema(`${path}.${name}`, `of ${String(bounds[name])} is not supported`);
}

function natural(): GrammarNode {
  return { oneOf: [{ text: "0" }, positive()] };
}

function positive(): GrammarNode {
  return { all: [{ bytes: [[0x31, 0x39]] }, { many: { bytes: [[0x30, 0x39]] }, atMost: 14 }] };
}
