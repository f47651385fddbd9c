import { expect, it } from "vitest";
import { batchesOf } from "../../../functions/isolate-host/batch.ts";

const sizesOf = (rows: unknown[], maxBytes?: number) =>
  batchesOf(rows, maxBytes).map((batch) => batch.rows.length);

it("has 64 rows a batch", () => {
  expect(sizesOf(Array.from({ length: 130 }, (_, index) => index))).toEqual([64, 64, 2]);
});

it("has fewer where their text would be too long, counted in bytes, and keeps their order", () => {
  const rows = Array.from({ length: 10 }, (_, index) => `${index}${"ü".repeat(99)}`);
  const batches = batchesOf(rows, 650);
  expect(batches.flatMap((batch) => batch.rows)).toEqual(rows);
  expect(batches.map(({ text }) => JSON.parse(text) as unknown)).toEqual(batches.map((batch) => batch.rows));
  for (const { text } of batches) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(650);
  expect(batches.length).toBeLessThanOrEqual(5);
});

it("never cuts a row", () => {
  expect(sizesOf(["x".repeat(1_000), "y"], 100)).toEqual([1, 1]);
});
