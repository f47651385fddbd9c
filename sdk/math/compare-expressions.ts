import { exactlyOf, samplesOf, shakenOf, type Sample } from "./evaluate.ts";
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
/** Of smaller values rounding may have left nothing that is right. */
const SMALL = 1e-3;
/** Smaller values have lost their digits, or become 0. */
const VANISHED = 1e-290;

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
  // Of one that nobody can work out, such as a choice from a million, only the same can be said to be the same.
  if (!one || !other) return isSameCode(first, second);
  if (tolerance > 0 && Math.hypot(one.re - other.re, one.im - other.im) <= tolerance) return true;
  if (first.isDecimal || second.isDecimal)
    return (
      rounded(one.re, decimals) === rounded(other.re, decimals) && Math.abs(one.im - other.im) < RELATIVE
    );
  if (!Number.isFinite(one.re) || !Number.isFinite(other.re))
    return areSameInfinity(first, second, one, other);
  const isNear = agreeAt(first, second, 0);
  if (isNear === false) return false;
  const [exactly, otherwise] = [exactlyOf(first), exactlyOf(second)];
  return exactly && otherwise ? exactly.equals(otherwise) : (isNear ?? isSameCode(first, second));
}

/** Infinity itself, or numbers that are too large to tell apart but by their digits. */
function areSameInfinity(first: Expression, second: Expression, one: Sample, other: Sample): boolean {
  if (/infinity/.test(first.code) || /infinity/.test(second.code)) return one.re === other.re;
  const [exactly, otherwise] = [exactlyOf(first), exactlyOf(second)];
  if (exactly && otherwise) return exactly.equals(otherwise);
  return isSameCode(first, second);
}

function isSameCode(first: Expression, second: Expression): boolean {
  return first.code === second.code && first.numbers.join() === second.numbers.join();
}

/** Half a unit of the last place, either way. */
function rounded(value: number, decimals: number): number {
  if (!Number.isFinite(value)) return value;
  const text = value.toFixed(decimals);
  return Number(text);
}

function areSameFunction(first: Expression, second: Expression): boolean {
  if (isSameCode(first, second)) return true;
  const [ones, others] = [pointsOf(first), pointsOf(second)];
  const isComplex = first.hasImaginary || second.hasImaginary;
  const verdicts = ones.flatMap((one, point) => {
    const other = others[point];
    // Outside of the reals, as a root of a negative number, the usual rules do not hold.
    if (!one || !other || !(isComplex || (isReal(one) && isReal(other)))) return [];
    return agreeAt(first, second, point) ?? [];
  });
  return verdicts.length >= MIN_POINTS && verdicts.every(Boolean);
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
  return ratios.every((each) => Math.abs(each - ratio) <= RELATIVE * Math.abs(ratio));
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

/**
 * Whether both have the same value at a point; undefined where nobody can tell: both are too large for a number, or so
 * small that they became 0.
 */
function agreeAt(first: Expression, second: Expression, point: number): boolean | undefined {
  const [one, other] = [pointsOf(first)[point], pointsOf(second)[point]];
  if (!one || !other) return undefined;
  const [size, otherSize] = [sizeOf(one), sizeOf(other)];
  if (!Number.isFinite(size) && !Number.isFinite(otherSize)) return undefined;
  const largest = Math.max(size, otherSize);
  if (!Number.isFinite(largest)) return false;
  if (largest < VANISHED) return isNothing(first, point) && isNothing(second, point) ? true : undefined;
  const apart = Math.hypot(one.re - other.re, one.im - other.im);
  if (apart <= RELATIVE * largest) return true;
  if (largest >= SMALL) return false;
  // Of what is left of larger terms only as much counts as rounding leaves of them.
  return apart <= Math.min(RELATIVE * SMALL, 10 * (noiseAt(first, point) + noiseAt(second, point)));
}

/** Whether 0 is its value, and not only what such small numbers become. */
function isNothing(expression: Expression, point: number): boolean {
  return noiseAt(expression, point) > 0 || /\b(?:floor|ceil|infinity)\b/.test(expression.code);
}

const noiseBy = new WeakMap<Expression, (number | undefined)[]>();

/** How far a value moves when what it is made of moves by a rounding: as much of it is not known. */
function noiseAt(expression: Expression, point: number): number {
  const known = noiseBy.get(expression) ?? [];
  noiseBy.set(expression, known);
  return (known[point] ??= noiseOf(expression, point));
}

function noiseOf(expression: Expression, point: number): number {
  const [value, moved] = [pointsOf(expression)[point], shakenOf(expression, point, pointOf)];
  const noise = value && moved ? Math.hypot(value.re - moved.re, value.im - moved.im) : 0;
  return Number.isFinite(noise) ? noise : 0;
}

function sizeOf({ re, im }: Sample): number {
  return Math.hypot(re, im);
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
