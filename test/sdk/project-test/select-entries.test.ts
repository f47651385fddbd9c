import { expect, it } from "vitest";
import { derivedSeed, selectEntries } from "../../../sdk/config/project-folder/play/select-entries.ts";

it("draws without replacement: every row is as likely at every place", () => {
  const rows = 6;
  const draws = 3_000;
  const counts = Array.from({ length: rows }, () => Array.from({ length: rows }, () => 0));
  for (let seed = 0; seed < draws; seed++) {
    const drawn = selectEntries({ count: rows, seed }, rows);
    expect(drawn.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
    drawn.forEach((row, place) => add(counts[place], row));
  }
  const expected = draws / rows;
  // Chi-square with 5 degrees of freedom for each place; 20.5 is its 99.9 % quantile.
  for (const place of counts)
    expect(place.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)).toBeLessThan(20.5);
});

it("takes a few of a great many rows without going through all of them", () => {
  const drawn = selectEntries({ count: 5, seed: 1 }, 1e12);
  expect(new Set(drawn).size).toBe(5);
  expect(selectEntries({ count: 5, seed: 2 }, 1e12)).not.toEqual(drawn);
});

it("gives every row, answer and turn a seed of its own", () => {
  const seeds = Array.from({ length: 20 }, (_, row) =>
    Array.from({ length: 20 }, (_, sample) => derivedSeed(0, row, sample)),
  ).flat();
  expect(new Set(seeds).size).toBe(400);
  expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true);
});

function add(counts: number[] | undefined, row: number): void {
  if (counts) counts[row] = (counts[row] ?? 0) + 1;
}
