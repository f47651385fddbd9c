import { exactlyOf, samplesOf, type Sample } from "./evaluate.ts";
import type { Expression } from "./value.ts";

export interface Precision {
  /** Places after the point that a decimal number is compared to. */
  decimals: number;
  /** How far two numbers may be apart, in any case. */
  tolerance: number;
}

/** Points at which expressions of variables are compared. */
const POINTS = 12;
/** Fewer than this, where both have a value, prove nothing. */
const MIN_POINTS = 3;
const RELATIVE = 1e-10;

/** Whether both have the same value, for whatever values of their variables. */
export function areEqual(first: Expression, second: Expression, precision: Precision): boolean {
  if (areSame(first, second, precision)) return true;
  // 50% is 0.5 and, where a question asks for a percentage, 50.
  if (first.isPercent === second.isPercent) return false;
  const [share, other] = first.isPercent ? [first, second] : [second, first];
  return areSame(inHundred(share), other, precision);
}

function inHundred(expression: Expression): Expression {
  const { code, numbers } = expression;
  return { ...expression, code: `(${code}) * k${numbers.length}`, numbers: [...numbers, "100"] };
}

function areSame(first: Expression, second: Expression, precision: Precision): boolean {
  const names = new Set([...first.variables, ...second.variables]);
  return names.size === 0 ? areSameNumber(first, second, precision) : areSameFunction(first, second);
}

function areSameNumber(first: Expression, second: Expression, { decimals, tolerance }: Precision): boolean {
  const [[one], [other]] = [valuesOf(first), valuesOf(second)];
  if (!one || !other) return false;
  if (tolerance > 0 && Math.hypot(one.re - other.re, one.im - other.im) <= tolerance) return true;
  if (first.isDecimal || second.isDecimal)
    return (
      rounded(one.re, decimals) === rounded(other.re, decimals) && Math.abs(one.im - other.im) < RELATIVE
    );
  if (!Number.isFinite(one.re) || !Number.isFinite(other.re))
    return areSameInfinity(first, second, one, other);
  if (!isNear(one, other)) return false;
  const [exactly, otherwise] = [exactlyOf(first), exactlyOf(second)];
  return exactly && otherwise ? exactly.equals(otherwise) : true;
}

/** Infinity itself, or numbers that are too large to tell apart but by their digits. */
function areSameInfinity(first: Expression, second: Expression, one: Sample, other: Sample): boolean {
  if (/infinity/.test(first.code) || /infinity/.test(second.code)) return one.re === other.re;
  const [exactly, otherwise] = [exactlyOf(first), exactlyOf(second)];
  if (exactly && otherwise) return exactly.equals(otherwise);
  return first.code === second.code && first.numbers.join() === second.numbers.join();
}

/** Half a unit of the last place, either way. */
function rounded(value: number, decimals: number): number {
  if (!Number.isFinite(value)) return value;
  const text = value.toFixed(decimals);
  return Number(text);
}

function areSameFunction(first: Expression, second: Expression): boolean {
  const [ones, others] = [pointsOf(first), pointsOf(second)];
  const isComplex = first.hasImaginary || second.hasImaginary;
  const pairs = ones.flatMap((one, point) => {
    const other = others[point];
    // Outside of the reals, as a root of a negative number, the usual rules do not hold.
    return one && other && (isComplex || (isReal(one) && isReal(other))) ? [{ one, other }] : [];
  });
  return pairs.length >= MIN_POINTS && pairs.every(({ one, other }) => isNear(one, other));
}

/**
 * Whether one is always the same multiple of the other: then both are 0 at the same places. With `isPositive` only
 * multiples above 0 count, which keep the sign as well.
 */
export function areProportional(
  first: Expression,
  second: Expression,
  { isPositive }: { isPositive: boolean },
): boolean {
  const [ones, others] = [pointsOf(first), pointsOf(second)];
  const ratios = ones.flatMap((one, point) => {
    const other = others[point];
    return one && other && isReal(one) && isReal(other) && other.re !== 0 ? [one.re / other.re] : [];
  });
  const [ratio = 0] = ratios;
  if (ratios.length < MIN_POINTS || ratio === 0 || (isPositive && ratio < 0)) return false;
  return ratios.every((each) => isNear({ re: each, im: 0 }, { re: ratio, im: 0 }));
}

/** The real number that it is; undefined where it has variables, or is none. */
export function numberOf(expression: Expression): number | undefined {
  if (expression.variables.length > 0) return undefined;
  const [sample] = valuesOf(expression);
  return sample && isReal(sample) ? sample.re : undefined;
}

const valuesBy = new WeakMap<Expression, (Sample | undefined)[]>();

/** At every point, or the one value of what has no variables. */
function valuesOf(expression: Expression): (Sample | undefined)[] {
  const known = valuesBy.get(expression);
  if (known) return known;
  const values = samplesOf(expression, expression.variables.length === 0 ? 1 : POINTS, pointOf);
  valuesBy.set(expression, values);
  return values;
}

/** What has no variables has the same value everywhere. */
function pointsOf(expression: Expression): (Sample | undefined)[] {
  const values = valuesOf(expression);
  return values.length === POINTS ? values : Array.from({ length: POINTS }, () => values[0]);
}

function isReal({ re, im }: Sample): boolean {
  return Math.abs(im) <= RELATIVE * Math.max(1, Math.abs(re));
}

function isNear(one: Sample, other: Sample): boolean {
  if (one.re === other.re && one.im === other.im) return true;
  if (![one.re, one.im, other.re, other.im].every(Number.isFinite)) return false;
  const size = Math.max(Math.hypot(one.re, one.im), Math.hypot(other.re, other.im));
  return Math.hypot(one.re - other.re, one.im - other.im) <= RELATIVE * Math.max(size, 1e-3);
}

/** Always the same, different for each variable, above 0 at the even points. */
function pointOf(variable: string, point: number): number {
  let hash = 2166136261 ^ point;
  for (const letter of `${variable}#${point}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  const share = ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
  const value = 0.3 + 2.4 * share;
  return point % 2 === 0 ? value : -value;
}
