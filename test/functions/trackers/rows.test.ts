import { describe, expect, it } from "vitest";
import { NOTHING_TOLD, rowsOf, type Row } from "../../../functions/trackers/rows.ts";
import type { RunEvent } from "../../../sdk/schema/event.ts";

function metrics(seq: number, step: number, values: Record<string, number>): RunEvent {
  return { seq, atMs: seq * 1_000, body: { type: "metrics", step, metrics: values } };
}

const EVENTS: RunEvent[] = [
  { seq: 1, atMs: 0, body: { type: "log", level: "info", message: "hello" } },
  metrics(2, 1, { loss: 3 }),
  metrics(3, 1, { "eval/reward": 0.5 }),
  metrics(4, 2, { loss: 2 }),
  // The attempt is lost, and the next begins again behind step 0.
  metrics(5, 1, { loss: 3.1 }),
  metrics(6, 2, { loss: 2.1, late: 7 }),
  metrics(7, 3, { loss: 1 }),
];

function read(merges: boolean, sizes: number[]): Row[] {
  const rows: Row[] = [];
  let told = NOTHING_TOLD;
  const after = () => EVENTS.filter(({ seq }) => seq > told.seq);
  for (const size of sizes) {
    const page = rowsOf(told, after().slice(0, size), { merges, isEnded: false });
    rows.push(...page.rows);
    told = page.told;
    expect(told.rows).toBe(rows.length);
  }
  const rest = rowsOf(told, after(), { merges, isEnded: true });
  expect(rest.told.seq).toBe(7);
  return [...rows, ...rest.rows];
}

describe("rows of metrics", () => {
  it("tell each metric of a step once, also where an attempt repeats steps", () => {
    expect(read(false, []).map(({ step, metrics: values }) => [step, values])).toEqual([
      [1, { loss: 3 }],
      [1, { "eval/reward": 0.5 }],
      [2, { loss: 2 }],
      [2, { late: 7 }],
      [3, { loss: 1 }],
    ]);
  });

  it("merge reports of one step where a step is one row, and keep the last back until it is whole", () => {
    expect(read(true, []).map(({ step, metrics: values }) => [step, values])).toEqual([
      [1, { loss: 3, "eval/reward": 0.5 }],
      [2, { loss: 2, late: 7 }],
      [3, { loss: 1 }],
    ]);
    const open = rowsOf(NOTHING_TOLD, EVENTS.slice(0, 3), { merges: true, isEnded: false });
    expect(open).toMatchObject({ rows: [], told: { seq: 1, rows: 0, last: {} } });
  });

  it("are the same rows in whatever pages the events are read", () => {
    for (const merges of [false, true])
      for (const sizes of [[1, 1, 1, 1, 1, 1, 1], [2, 3], [4], [3, 3, 1]]) {
        const grown = sizes.flatMap((size) => [size, size + 2]);
        expect(read(merges, grown)).toEqual(read(merges, []));
      }
  });

  it("bound how many names of metrics are remembered", () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`m${index}`, index]));
    const { rows, told } = rowsOf(NOTHING_TOLD, [metrics(1, 1, many)], { merges: false, isEnded: false });
    expect(Object.keys(rows[0]?.metrics ?? {})).toHaveLength(1_000);
    expect(Object.keys(told.last)).toHaveLength(1_000);
  });

  it("bound how long they are together", () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`${"é".repeat(250)}${at}`, at]));
    const params = { merges: false, isEnded: false };
    const { told } = rowsOf(NOTHING_TOLD, [metrics(1, 1, { loss: 1 }), metrics(2, 1, many)], params);
    const bytes = Buffer.byteLength(JSON.stringify(told));
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(132_000);
    expect(rowsOf(told, [metrics(3, 2, { ...many, loss: 2 })], params).told.last["loss"]).toEqual([2, 2]);
  });

  it("may have the names of what every object has", () => {
    const { rows } = rowsOf(NOTHING_TOLD, [metrics(1, 1, { constructor: 1, toString: 2 })], {
      ...{ merges: false, isEnded: false },
    });
    expect(rows[0]?.metrics).toEqual({ constructor: 1, toString: 2 });
  });
});
