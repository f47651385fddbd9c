import type { Complex, Fraction } from "mathjs";
import { math } from "./mathjs.ts";
import type { Expression } from "./value.ts";

/** A value of an expression. Of a real number `im` is 0. */
export interface Sample {
  re: number;
  im: number;
}

/** Powers beyond this fill memory and time for numbers that no answer has. */
const MAX_EXACT_EXPONENT = 2_000;
const MAX_EXACT_DIGITS = 100;

/**
 * Values at the points given, one a point: undefined where it has none, as 1/x at 0.
 *
 * @param pointOf the value of a variable at a point
 */
export function samplesOf(expression: Expression, points: number, pointOf: PointOf): (Sample | undefined)[] {
  const numbers = expression.numbers.map((text, at): [string, number] => [`k${at}`, Number(text)]);
  return Array.from({ length: points }, (_, point) => valueAt(expression, numbers, point, pointOf));
}

type PointOf = (variable: string, point: number) => number;

function valueAt(
  expression: Expression,
  numbers: readonly [string, number][],
  point: number,
  pointOf: PointOf,
): Sample | undefined {
  const scope = new Map<string, unknown>([
    ...Object.entries({ pi: Math.PI, e: Math.E, i: math.complex(0, 1), infinity: Infinity }),
    ...numbers,
    ...expression.variables.map((name): [string, number] => [name, pointOf(name, point)]),
  ]);
  return sampleOf(() => compile(expression)?.evaluate(scope));
}

/** By how much everything is moved, in proportion: a little more than rounding does. */
const SHAKE = 1e-14;

const shakenBy = new WeakMap<Expression, Expression>();

/** The value at a point where each number and variable is a little off, wherever it stands by another share. */
export function shakenOf(expression: Expression, point: number, pointOf: PointOf): Sample | undefined {
  const shaken = shakenBy.get(expression) ?? withShares(expression);
  shakenBy.set(expression, shaken);
  const numbers = shaken.numbers.map((text, at): [string, number] => {
    const value = Number(text);
    // In proportion nothing moves 0.
    return [`k${at}`, value === 0 ? SHAKE : value];
  });
  return valueAt(shaken, numbers, point, pointOf);
}

/** `x - x` as `x * 1.00000000000001 - x * 0.99999999999999`, the shares being numbers of its own. */
function withShares(expression: Expression): Expression {
  const numbers = [...expression.numbers];
  const code = expression.code.replace(/\b(?:k\d+|v_\w+|pi|e)\b/g, (name) => {
    // Of the golden ratio no few multiples cancel out.
    const share = 1 + SHAKE * (((numbers.length * 0.618_033_988_749_9) % 1) - 0.5);
    return `(${name} * k${numbers.push(String(share)) - 1})`;
  });
  return { ...expression, code, numbers };
}

function sampleOf(evaluate: () => unknown): Sample | undefined {
  try {
    const value = evaluate();
    const sample =
      typeof value === "number"
        ? { re: value, im: 0 }
        : { re: (value as Complex).re, im: (value as Complex).im };
    return Number.isNaN(sample.re + sample.im) || typeof sample.re !== "number" ? undefined : sample;
  } catch {
    return undefined;
  }
}

/** The value as a fraction, however many digits it has. Undefined where it is none, or nobody knows. */
export function exactlyOf(expression: Expression): Fraction | undefined {
  if (expression.variables.length > 0 || /[a-z]{2}|\b[ei]\b/.test(expression.code)) return undefined;
  if (!isSmall(expression)) return undefined;
  const numbers = expression.numbers.map((text, at) => [`k${at}`, math.fraction(text)] as const);
  try {
    const value: unknown = compile(expression)?.evaluate(new Map(numbers));
    return isFraction(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Exponents are plain numbers, and small, also where powers are raised again. */
function isSmall({ code, numbers }: Expression): boolean {
  // 9^(9^9): an exponent that is a power itself.
  if (/\^\(+-?\(*k\d+\)+\^/.test(code)) return false;
  const exponents = [...code.matchAll(/\^\(\(*-?\(*k(\d+)\)/g)].map(([, place]) =>
    Number(numbers[Number(place)]),
  );
  const together = exponents.reduce((product, each) => product * Math.max(1, each), 1);
  return (
    exponents.length === code.split("^").length - 1 &&
    together <= MAX_EXACT_EXPONENT &&
    numbers.every((text) => text.length <= MAX_EXACT_DIGITS)
  );
}

function isFraction(value: unknown): value is Fraction {
  return typeof value === "object" && value !== null && "n" in value && "d" in value;
}

const compiledBy = new WeakMap<
  Expression,
  { evaluate: (scope: Map<string, unknown>) => unknown } | "faulty"
>();

function compile(expression: Expression): { evaluate: (scope: Map<string, unknown>) => unknown } | undefined {
  const known = compiledBy.get(expression);
  if (known !== undefined) return known === "faulty" ? undefined : known;
  try {
    const compiled = math.parse(expression.code).compile();
    compiledBy.set(expression, compiled);
    return compiled;
  } catch {
    compiledBy.set(expression, "faulty");
    return undefined;
  }
}
