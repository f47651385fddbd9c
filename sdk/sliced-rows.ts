import type { Row } from "./dataset-rows.ts";

/** The rows that `Array.prototype.slice` would give; kept in memory only where a number counts from the end. */
export async function* slicedRows(
  rows: Iterable<Row> | AsyncIterable<Row>,
  start = 0,
  end = Infinity,
): AsyncIterable<Row> {
  if (start < 0 || end < 0) {
    yield* (await collected(rows, end)).slice(start, end);
    return;
  }
  if (end <= start) return;
  let index = 0;
  for await (const row of rows) {
    if (index++ >= start) yield row;
    if (index >= end) return;
  }
}

async function collected(rows: Iterable<Row> | AsyncIterable<Row>, end: number): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) {
    all.push(row);
    if (end >= 0 && all.length >= end) break;
  }
  return all;
}
