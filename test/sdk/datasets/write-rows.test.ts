import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Row } from "../../../sdk/dataset-rows.ts";
import { writeRows } from "../../../sdk/datasets/write-rows.ts";

it.each(["rows.jsonl", "rows.parquet"])(
  "names the row that is too deep for %s, and leaves nothing",
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-write-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    async function* rows(): AsyncIterable<Row> {
      yield { id: 1 };
      yield { id: 2, tree: deep };
    }
    await expect(writeRows(join(folder, name), rows(), undefined)).rejects.toMatchObject({
      code: "dataset_invalid",
      message: 'row 2: the column "tree.0.0.0.0.0" is nested more than 500 deep.',
    });
    expect(readdirSync(folder)).toEqual([]);
  },
);
