/**
 * One pass over a row of probabilities, without allocation: rows are as long as the vocabulary, and every
 * decoded token costs one. The loops go by blocks, which lets several comparisons or additions be under way at
 * once; the casts spare a check of each element.
 *
 * @module
 */

/** Index of the largest value, the first of equals; 0 where there is none. */
export function argmax(row: Float32Array): number {
  const whole = row.length - (row.length % 8);
  let best = 0;
  let highest = -Infinity;
  for (let i = 0; i < whole; i += 8) {
    if (
      (row[i] as number) > highest ||
      (row[i + 1] as number) > highest ||
      (row[i + 2] as number) > highest ||
      (row[i + 3] as number) > highest ||
      (row[i + 4] as number) > highest ||
      (row[i + 5] as number) > highest ||
      (row[i + 6] as number) > highest ||
      (row[i + 7] as number) > highest
    ) {
      for (let j = i; j < i + 8; j++) if ((row[j] as number) > highest) highest = row[(best = j)] as number;
    }
  }
  for (let i = whole; i < row.length; i++) {
    if ((row[i] as number) > highest) highest = row[(best = i)] as number;
  }
  return best;
}

/**
 * The index at which the running sum first exceeds `target`; the last that is not 0 where it never does (a
 * row sums to 1 only up to rounding).
 */
export function walk(row: Float32Array, target: number): number {
  const whole = row.length - (row.length % 32);
  let rest = target;
  let i = 0;
  for (; i < whole; i += 32) {
    const block = sumOf(row, i, i + 32);
    if (block > rest) break;
    rest -= block;
  }
  for (; i < row.length; i++) {
    rest -= row[i] as number;
    if (rest < 0) return i;
  }
  return lastAbove(row, Number.MIN_VALUE);
}

/** As {@link walk}, over the values that are at least `floor`. */
export function walkAbove(row: Float32Array, floor: number, target: number): number {
  let rest = target;
  for (let i = 0; i < row.length; i++) {
    const value = row[i] as number;
    rest -= value < floor ? 0 : value;
    if (rest < 0) return i;
  }
  return lastAbove(row, floor);
}

/** Sum of the values that are at least `floor`. */
export function sumAbove(row: Float32Array, floor: number): number {
  let sum = 0;
  for (let i = 0; i < row.length; i++) {
    const value = row[i] as number;
    sum += value < floor ? 0 : value;
  }
  return sum;
}

/** In place: the probabilities at another temperature of what is a row at temperature 1. */
export function temper(row: Float32Array, temperature: number): void {
  if (temperature === 1) return;
  const highest = Math.log(row[argmax(row)] ?? 0);
  let total = 0;
  for (let i = 0; i < row.length; i++) {
    const value = row[i] as number;
    if (value === 0) continue;
    row[i] = Math.exp((Math.log(value) - highest) / temperature);
    total += row[i] as number;
  }
  for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) / total;
}

/** `from` and `to` are a multiple of four apart. */
function sumOf(row: Float32Array, from: number, to: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = from; i < to; i += 4) {
    a += row[i] as number;
    b += row[i + 1] as number;
    c += row[i + 2] as number;
    d += row[i + 3] as number;
  }
  return a + b + (c + d);
}

function lastAbove(row: Float32Array, floor: number): number {
  let i = row.length - 1;
  while (i > 0 && (row[i] as number) < floor) i--;
  return Math.max(i, 0);
}
