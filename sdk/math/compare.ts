import { areEqual, areProportional, numberOf, type Precision } from "./compare-expressions.ts";
import { areSameRanges, rangesOf } from "./ranges.ts";
import type { Expression, Interval, MathValue, Relation } from "./value.ts";

type Part = MathValue;

/** Whether an answer is what was expected. Not symmetric: `x = 5` may be answered with `5`. */
export function isEqual(expected: Part, answer: Part, precision: Precision): boolean {
  const [gold, given] = unwrapped(expected, answer);
  if (gold.kind === "relation" && given.kind === "relation") return areSameRelations(gold, given, precision);
  if (gold.kind === "expression" && given.kind === "expression") return areEqual(gold, given, precision);
  if (gold.kind === "text" || given.kind === "text")
    return lettersOf(gold) === lettersOf(given) && lettersOf(gold) !== "";
  if (gold.kind === "matrix" || given.kind === "matrix") return areSameMatrices(gold, given, precision);
  return areSameSets(gold, given, precision);
}

/** An equation that names a value, `x = 5` or `f(x) = 2x`, stands for the value where the other side is no equation. */
function unwrapped(expected: Part, answer: Part): [Part, Part] {
  const [gold, given] = [assignmentOf(expected), assignmentOf(answer)];
  if (isEquation(given) && !isEquation(gold)) return [gold, lastOf(given)];
  if (isEquation(gold) && isAssignment(gold) && !isEquation(given)) return [lastOf(gold), given];
  return [gold, given];
}

/** `a = b = 3` names 3. */
function assignmentOf(value: Part): Part {
  const [first] = value.kind === "relation" ? value.parts : [];
  if (!first || !isEquation(value) || !isAssignment(value) || value.parts.length === 2) return value;
  return { kind: "relation", parts: [first, lastOf(value)], operators: ["="] };
}

function isEquation(value: Part): value is Relation {
  return value.kind === "relation" && value.operators.every((operator) => operator === "=");
}

function isAssignment({ parts }: Relation): boolean {
  const [first] = parts;
  if (first?.kind === "expression")
    return first.variables.length > 0 && /^[\w* ()]+$/.test(first.code) && first.numbers.length === 0;
  // (x, y) = (1, 2)
  return first?.kind === "interval" || first?.kind === "tuple" || first?.kind === "text";
}

function lastOf({ parts }: Relation): Part {
  return parts.at(-1) ?? { kind: "text", text: "" };
}

const FLIPPED = { "<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!=" } as const;

function areSameRelations(gold: Relation, given: Relation, precision: Precision): boolean {
  if (gold.parts.length !== given.parts.length) return false;
  const isFlipped = gold.operators.every((operator, at) => given.operators.at(-1 - at) === FLIPPED[operator]);
  const isSame = gold.operators.every((operator, at) => given.operators[at] === operator);
  const agree = (parts: readonly Part[]) =>
    gold.parts.every((part, at) => isEqualTo(part, parts[at], precision));
  if (isSame && agree(given.parts)) return true;
  if (isFlipped && agree(given.parts.toReversed())) return true;
  if (gold.parts.length !== 2) return false;
  const [one, other] = [differenceOf(gold), differenceOf(given)];
  if (!one || !other) return false;
  const isOrdered = gold.operators[0] !== "=" && gold.operators[0] !== "!=";
  if (isSame && areProportional(one, other, { isPositive: isOrdered })) return true;
  return isFlipped && isOrdered && areProportional(one, negated(other), { isPositive: true });
}

function isEqualTo(part: Part, other: Part | undefined, precision: Precision): boolean {
  return other !== undefined && isEqual(part, other, precision);
}

/** Left less right, where both are expressions. */
function differenceOf({ parts: [left, right] }: Relation): Expression | undefined {
  if (left?.kind !== "expression" || right?.kind !== "expression") return undefined;
  const shift = left.numbers.length;
  const code = right.code.replace(/\bk(\d+)\b/g, (_, place: string) => `k${Number(place) + shift}`);
  return {
    ...left,
    code: `(${left.code}) - (${code})`,
    numbers: [...left.numbers, ...right.numbers],
    variables: [...new Set([...left.variables, ...right.variables])],
    isDecimal: false,
    hasImaginary: left.hasImaginary || right.hasImaginary,
  };
}

function negated(expression: Expression): Expression {
  return { ...expression, code: `-(${expression.code})` };
}

function areSameMatrices(gold: Part, given: Part, precision: Precision): boolean {
  if (gold.kind !== "matrix" || given.kind !== "matrix" || gold.rows.length !== given.rows.length)
    return false;
  return gold.rows.every((row, at) => {
    const other = given.rows[at] ?? [];
    return (
      row.length === other.length && row.every((each, column) => isEqualTo(each, other[column], precision))
    );
  });
}

function areSameSets(gold: Part, given: Part, precision: Precision): boolean {
  if (gold.kind === "interval" && given.kind === "interval" && haveSameEnds(gold, given, precision))
    return true;
  const [one, other] = [listOf(gold), listOf(given)];
  const isOrdered = isPoint(gold) && (isPoint(given) || given.kind === "set") && gold.kind !== "set";
  if (one && other && (isPoint(gold) || gold.kind === "set" || given.kind === "set" || isPoint(given)))
    return isOrdered
      ? one.length === other.length && one.every((item, at) => isEqualTo(item, other[at], precision))
      : areSameItems(one, other, precision);
  // An inequality is answered with the interval that it means; not the other way round, where (1, 2) may be a point.
  if (given.kind === "relation") return false;
  const [ranges, others] = [rangesOf(gold), rangesOf(given)];
  return ranges !== undefined && others !== undefined && areSameRanges(ranges, others);
}

function haveSameEnds(gold: Interval, given: Interval, precision: Precision): boolean {
  return (
    gold.isOpenLeft === given.isOpenLeft &&
    gold.isOpenRight === given.isOpenRight &&
    isEqual(gold.from, given.from, precision) &&
    isEqual(gold.to, given.to, precision)
  );
}

/** `(1, 2)` is a point as well as an interval. */
function isPoint(value: Part): boolean {
  return value.kind === "tuple" || (value.kind === "interval" && value.isOpenLeft && value.isOpenRight);
}

/** The items of what has some; of a single thing itself. */
function listOf(value: Part): Part[] | undefined {
  if (value.kind === "set" || value.kind === "tuple") return value.items;
  if (value.kind === "interval") return isPoint(value) ? [value.from, value.to] : undefined;
  return value.kind === "expression" ? [value] : undefined;
}

/** Each of one has its like in the other. */
function areSameItems(gold: readonly Part[], given: readonly Part[], precision: Precision): boolean {
  const rest = distinct(given, precision);
  const wanted = distinct(gold, precision);
  if (rest.length !== wanted.length) return false;
  return wanted.every((item) => {
    const at = rest.findIndex((each) => isEqual(item, each, precision));
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  });
}

function distinct(items: readonly Part[], precision: Precision): Part[] {
  return items.reduce<Part[]>(
    (all, item) => (all.some((each) => isEqual(each, item, precision)) ? all : [...all, item]),
    [],
  );
}

/** Letters and digits alone, small: `\text{Even}` is `even`. */
function lettersOf(value: Part): string {
  if (value.kind === "text") return value.text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  if (value.kind !== "expression" || numberOf(value) !== undefined) return "";
  return value.code
    .replace(/\bv_|_\b/g, "")
    .replace(/[^a-zA-Z]+/g, "")
    .toLowerCase();
}
