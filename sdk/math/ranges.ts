import { numberOf } from "./compare-expressions.ts";
import type { MathValue, Relation } from "./value.ts";

/** A stretch of the real line; a point has both ends at one place. */
export interface Range {
  from: number;
  to: number;
  hasFrom: boolean;
  hasTo: boolean;
}

const NEAR = 1e-9;

/** Sets of real numbers as stretches in order, none touching the next. Undefined where an end is no number. */
export function rangesOf(value: MathValue): Range[] | undefined {
  const ranges = loose(value);
  return ranges && merged(ranges);
}

export function areSameRanges(first: readonly Range[], second: readonly Range[]): boolean {
  return (
    first.length === second.length &&
    first.every((range, at) => {
      const other = second[at];
      return (
        other !== undefined &&
        isSame(range.from, other.from) &&
        isSame(range.to, other.to) &&
        range.hasFrom === other.hasFrom &&
        range.hasTo === other.hasTo
      );
    })
  );
}

function loose(value: MathValue): Range[] | undefined {
  if (value.kind === "expression") {
    const point = numberOf(value);
    return point === undefined ? undefined : [{ from: point, to: point, hasFrom: true, hasTo: true }];
  }
  if (value.kind === "set") return all(value.items);
  if (value.kind === "interval") {
    const [from, to] = [value.from, value.to].map((end) =>
      end.kind === "expression" ? numberOf(end) : undefined,
    );
    if (from === undefined || to === undefined || from > to) return undefined;
    return [{ from, to, hasFrom: !value.isOpenLeft, hasTo: !value.isOpenRight }];
  }
  if (value.kind === "relation") return inequality(value);
  if (value.kind !== "union") return undefined;
  const parts = all(value.parts);
  return value.without.reduce<Range[] | undefined>((rest, each) => {
    const cut = loose(each);
    return rest && cut && cut.reduce(without, merged(rest));
  }, parts);
}

function all(values: readonly MathValue[]): Range[] | undefined {
  const ranges = values.map(loose);
  return ranges.every((each) => each !== undefined) ? ranges.flat() : undefined;
}

/** `1 < x <= 2`, `x > 3`, `x != 0`: of one variable alone, which stands by itself. */
function inequality({ parts, operators }: Relation): Range[] | undefined {
  let range: Range = { from: -Infinity, to: Infinity, hasFrom: false, hasTo: false };
  let name: string | undefined;
  for (const [at, operator] of operators.entries()) {
    const [left, right] = [parts[at], parts[at + 1]];
    if (left?.kind !== "expression" || right?.kind !== "expression") return undefined;
    const isLeft = left.code.startsWith("v_");
    const [variable, bound] = isLeft ? [left, numberOf(right)] : [right, numberOf(left)];
    if (!/^v_\w+$/.test(variable.code) || bound === undefined || (name ?? variable.code) !== variable.code)
      return undefined;
    name = variable.code;
    if (operator === "!=") return without([range], { from: bound, to: bound, hasFrom: true, hasTo: true });
    if (operator === "=") return [{ from: bound, to: bound, hasFrom: true, hasTo: true }];
    const isAbove = operator.startsWith(">") === isLeft;
    const has = operator.endsWith("=");
    range = isAbove ? { ...range, from: bound, hasFrom: has } : { ...range, to: bound, hasTo: has };
  }
  return [range];
}

function merged(ranges: readonly Range[]): Range[] {
  const sorted = ranges.toSorted((a, b) => a.from - b.from || Number(b.hasFrom) - Number(a.hasFrom));
  const result: Range[] = [];
  for (const range of sorted) {
    const last = result.at(-1);
    if (last && touches(last, range)) {
      if (isSame(last.to, range.to)) last.hasTo ||= range.hasTo;
      else if (range.to > last.to) Object.assign(last, { to: range.to, hasTo: range.hasTo });
    } else result.push({ ...range });
  }
  return result;
}

function touches(left: Range, right: Range): boolean {
  return isSame(left.to, right.from) ? left.hasTo || right.hasFrom : left.to > right.from;
}

function without(ranges: readonly Range[], cut: Range): Range[] {
  return ranges.flatMap((range) => {
    const left = {
      ...range,
      to: Math.min(range.to, cut.from),
      hasTo: range.to < cut.from ? range.hasTo : !cut.hasFrom,
    };
    const right = {
      ...range,
      from: Math.max(range.from, cut.to),
      hasFrom: range.from > cut.to ? range.hasFrom : !cut.hasTo,
    };
    return [left, right].filter(
      ({ from, to, hasFrom, hasTo }) => from < to || (from === to && hasFrom && hasTo),
    );
  });
}

function isSame(one: number, other: number): boolean {
  return one === other || Math.abs(one - other) <= NEAR * Math.max(1, Math.abs(one));
}
