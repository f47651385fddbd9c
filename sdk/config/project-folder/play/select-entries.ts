import { SpotterError } from "../../../schema/errors.ts";

/** Which rows are played: some by their place, all, or so many by chance. */
export type Selection = { entries: readonly number[] } | { all: true } | { count: number; seed: number };

/** @throws SpotterError `invalid_input` for places that no row has. */
export function checkSelection(selection: Selection, rows: number): void {
  const wrong = "entries" in selection ? selection.entries.filter((index) => index >= rows) : [];
  if (wrong.length === 0) return;
  throw new SpotterError("invalid_input", `There is no row ${wrong.join(", ")}: the file has ${rows}.`, {
    where: "--entry",
    hint: `Rows are counted from 0: the last one is ${rows - 1}.`,
  });
}

/**
 * The places of the rows to play, from 0. By chance means without replacement, and the same seed gives the same rows
 * in the same order; where more are asked for than there are, all are taken.
 *
 * @throws SpotterError `invalid_input` for places that no row has.
 */
export function selectEntries(selection: Selection, rows: number): number[] {
  checkSelection(selection, rows);
  if ("all" in selection) return Array.from({ length: rows }, (_, index) => index);
  if ("entries" in selection) return [...new Set(selection.entries)];
  const next = randomOf(selection.seed);
  // The first places of a shuffled list, without the list: what was swapped is remembered.
  const moved = new Map<number, number>();
  return Array.from({ length: Math.min(selection.count, rows) }, (_, index) => {
    const other = index + Math.floor(next() * (rows - index));
    const taken = moved.get(other) ?? other;
    moved.set(other, moved.get(index) ?? index);
    return taken;
  });
}

/** Numbers from 0 up to 1, always the same ones of a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed of a seed: of a row, an answer to it, a turn. At most 31 bits, as every server takes it. */
export function derivedSeed(...parts: readonly number[]): number {
  return parts.reduce(
    (seed, part) => Math.floor(randomOf(seed ^ Math.imul(part + 1, 0x9e3779b1))() * 2 ** 31),
    0,
  );
}
