import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rewardRowOf } from "../../../engine/reward-row.ts";
import { readRows } from "../../../engine/training/rows.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-rows-"));
});
afterEach(() => rm(dir, { recursive: true }));

async function read(text: string) {
  const file = join(dir, "rows.jsonl");
  await writeFile(file, text);
  return readRows(file, "train.jsonl");
}

describe("dataset rows", () => {
  it("are one JSON object a line; empty lines do not count", async () => {
    const row = { prompt: [{ role: "user", content: "hi" }], row: { a: 1 } };
    expect(await read(`${JSON.stringify(row)}\n\n${JSON.stringify({ ...row, completion: "yo" })}\n`)).toEqual(
      [row, { ...row, completion: "yo" }],
    );
  });

  it("pass on whole numbers that JavaScript cannot hold", async () => {
    const line = '{"prompt":[],"row":{"metadata":{"id":12345678901234567891}}}';
    const [row] = await read(line);
    const { metadata } = rewardRowOf(row as DatasetRow, {
      response: { content: "", reasoning: "", toolCalls: [] },
      tokens: 0,
      finishReason: "stop",
    });
    expect(JSON.stringify(metadata)).toBe('{"id":12345678901234567891}');
  });

  it.each([
    ["", "dataset_empty", "train.jsonl"],
    ['\n{"prompt":[],"row":{}}\n{', "dataset_invalid", "train.jsonl:3"],
    ['{"prompt":"hi","row":{}}', "dataset_invalid", "train.jsonl:1"],
  ])("%j is %s at %s", async (text, code, where) => {
    await expect(read(text)).rejects.toMatchObject({ code, where });
  });
});
