/**
 * Symbolic dimensions. A dimension is a number, or a product of named sizes written `2*B*S` (factors sorted,
 * the number first), so that a graph built once serves every batch and sequence length and still has its
 * shapes checked while it is built.
 *
 * @module
 */

/** A size: known, or a canonical product of names. */
export type Dim = number | string;
export type Shape = readonly Dim[];

interface Monomial {
  factor: number;
  names: string[];
}

/** The product of dimensions; `product([])` is 1. */
export function product(dims: Shape): Dim {
  let factor = 1;
  const names: string[] = [];
  for (const dim of dims) {
    const part = parse(dim);
    factor *= part.factor;
    names.push(...part.names);
  }
  return format({ factor, names });
}

/** Whether two shapes are the same, name for name. */
export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

/** NumPy broadcasting, or undefined where the shapes do not fit. */
export function broadcast(a: Shape, b: Shape): Dim[] | undefined {
  const rank = Math.max(a.length, b.length);
  const shape: Dim[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const left = a[axis - rank + a.length] ?? 1;
    const right = b[axis - rank + b.length] ?? 1;
    if (left !== right && left !== 1 && right !== 1) return undefined;
    shape.push(left === 1 ? right : left);
  }
  return shape;
}

/** Names in a dimension, for example `["B", "S"]` for `2*B*S`. */
export function namesOf(dim: Dim): string[] {
  return parse(dim).names;
}

function parse(dim: Dim): Monomial {
  if (typeof dim === "number") return { factor: dim, names: [] };
  const parts = dim.split("*");
  const factor = Number(parts[0]);
  return Number.isNaN(factor) ? { factor: 1, names: parts } : { factor, names: parts.slice(1) };
}

function format({ factor, names }: Monomial): Dim {
  if (names.length === 0 || factor === 0) return factor;
  const sorted = [...names].sort().join("*");
  return factor === 1 ? sorted : `${factor}*${sorted}`;
}
