import { describe, expect, it } from "vitest";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { inTurns } from "../../sdk/environment-tasks.ts";

const rows = (name: string, count: number): DatasetRow[] =>
  Array.from({ length: count }, (_, index) => ({ prompt: [], row: { id: `${name}${index}` } }));

describe("inTurns", () => {
  it("gives rows of every source early, and all of them", async () => {
    async function* streamed() {
      yield* rows("b", 4);
    }
    const ids: unknown[] = [];
    for await (const { row } of inTurns([rows("a", 2), streamed(), rows("c", 0)])) ids.push(row.id);
    expect(ids).toEqual(["a0", "b0", "a1", "b1", "b2", "b3"]);
  });
});
