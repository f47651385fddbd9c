import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { Dataset } from "../../sdk/dataset.ts";
import { JsonlDataset } from "../../sdk/jsonl-dataset.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spotter-file-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function fileWith(name: string, content: string | Uint8Array): string {
  const file = join(folder(), name);
  writeFileSync(file, content);
  return file;
}

async function rowsOf(file: string, params = {}): Promise<unknown[]> {
  const dataset = Dataset.fromFile(file, params);
  dataset.format = () => ({ prompt: [{ role: "user", content: "x" }] });
  return (await dataset.load()).map(({ row }) => row);
}

const rows = [
  { q: "a", n: 1, big: 2 ** 40, half: 0.5, is: true, list: [1, "x"], part: { a: null }, none: null },
  { q: 'ü "b"\n', n: -2, big: 3, half: 1, is: false, list: [], part: { b: [2] }, none: null },
];

describe("Dataset.save", () => {
  it.each(["rows.jsonl", "rows.parquet"])(
    "writes %s that reads back the same, with its messages",
    async (name) => {
      const target = join(folder(), "new", name);
      const dataset = Dataset.fromArray(rows, { inputColumn: "q", outputColumn: "n" });
      expect(await dataset.save(target)).toBe(2);
      expect(await rowsOf(target)).toEqual(
        rows.map((row) => ({
          ...row,
          messages: [{ role: "user", content: row.q }],
          completion: String(row.n),
        })),
      );
      const again = await Dataset.fromFile(target, { outputColumn: "completion" }).load();
      expect(again.map(({ prompt, completion }) => [prompt, completion])).toEqual(
        (await dataset.load()).map(({ prompt, completion }) => [prompt, completion]),
      );
      expect(readdirSync(join(target, ".."))).toEqual([name]);
    },
  );

  it("takes the output format where the name says none, and refuses to contradict it", async () => {
    const target = join(folder(), "rows");
    const dataset = Dataset.fromArray(rows, { inputColumn: "q", outputFormat: "parquet" });
    await dataset.save(target);
    expect(readFileSync(target).subarray(0, 4).toString()).toBe("PAR1");
    await expect(dataset.save(`${target}.jsonl`)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(dataset.save(`${target}.csv`)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("leaves what was there when a row cannot be written", async () => {
    const target = fileWith("rows.jsonl", "before");
    const broken = Dataset.fromArray([{ q: "a" }, { p: "b" }], { inputColumn: "q" });
    await expect(broken.save(target)).rejects.toMatchObject({ code: "dataset_invalid" });
    expect(readFileSync(target, "utf8")).toBe("before");
    expect(readdirSync(join(target, ".."))).toEqual(["rows.jsonl"]);
    await expect(Dataset.fromArray([]).save(target)).rejects.toMatchObject({ code: "dataset_empty" });
  });

  it("passes any JSON through Parquet", async () => {
    const target = join(folder(), "any.parquet");
    const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.integer(), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 8 }), async (values) => {
        const clean = JSON.parse(JSON.stringify(values)) as unknown[];
        await Dataset.fromArray(
          clean.map((x) => ({ x })),
          { promptTemplate: "p" },
        ).save(target);
        expect(
          (await rowsOf(target, { columns: ["x"] })).map((row) => (row as { x: unknown }).x ?? null),
        ).toEqual(clean);
      }),
      { numRuns: 60 },
    );
  });
});

describe("Dataset.fromFile", () => {
  it("splits a JSON array wherever its bytes are cut", async () => {
    const { jsonArrayOrLines } = await import("../../sdk/datasets/json-rows.ts");
    const row = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        async (values, size) => {
          const text = ` ${JSON.stringify(values, undefined, 1)}\n`;
          async function* pieces() {
            for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
          }
          const read: unknown[] = [];
          for await (const each of jsonArrayOrLines(pieces(), "f")) read.push(each);
          expect(read).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it.each([
    ["is no JSON", '[{"q":"a"},\n {"q":b}]', 2],
    ["holds no objects", '[{"q":"a"},\n\n 7]', 3],
    ["does not end", '[{"q":"a"},\n{"q":"b"}\n', 3],
    ["goes on after its end", '[{"q":"a"}]\nx', 2],
    ["has a comma too many", '[{"q":"a"},\n]', 2],
  ])("names the line of a JSON array that %s", async (_name, text, line) => {
    const file = fileWith("rows.json", text);
    await expect(rowsOf(file)).rejects.toMatchObject({ code: "dataset_invalid", where: `${file}:${line}` });
  });

  it("reads JSON Lines in a .json file, and keeps the columns asked for", async () => {
    expect(await rowsOf(fileWith("rows.json", '{"q":"a","p":1}\n{"q":"b"}\n'), { columns: ["q"] })).toEqual([
      { q: "a" },
      { q: "b" },
    ]);
    const { q } = rows[0] ?? { q: "" };
    expect(await rowsOf(fileWith("r.JSONL.GZ", gzipSync(JSON.stringify({ q }))))).toEqual([{ q }]);
  });

  it("reads quoted cells over several lines, and names the line of a bad one", async () => {
    const file = fileWith("rows.csv", '\ufeffq,p\n"a\nb",1\nc,2\n');
    expect(await rowsOf(file)).toEqual([
      { q: "a\nb", p: "1" },
      { q: "c", p: "2" },
    ]);
    const bad = fileWith("rows.csv", 'q,p\n"a\nb",1\nc\n');
    await expect(rowsOf(bad)).rejects.toMatchObject({ where: `${bad}:4` });
    await expect(rowsOf(fileWith("rows.csv", "q,q\n1,2\n"))).rejects.toMatchObject({
      code: "dataset_invalid",
    });
    const placed = Dataset.fromFile(file, { inputColumn: "nope" });
    await expect(placed.load()).rejects.toMatchObject({ where: `${file}:3` });
  });

  it("names a column that a Parquet file lacks", async () => {
    const target = join(folder(), "rows.parquet");
    await Dataset.fromArray(rows, { inputColumn: "q" }).save(target);
    await expect(rowsOf(target, { columns: ["hafl"] })).rejects.toMatchObject({
      hint: 'Did you mean "half"?',
    });
  });

  it("refuses what is no dataset by its name; JsonlDataset reads it as lines", async () => {
    const file = fileWith("rows.txt", '{"q":"a"}\n');
    await expect(rowsOf(file)).rejects.toMatchObject({ code: "dataset_invalid", where: file });
    expect((await new JsonlDataset(file, { inputColumn: "q" }).load())[0]?.row).toEqual({ q: "a" });
    await expect(rowsOf("/nowhere/rows.parquet")).rejects.toMatchObject({
      message: "Cannot read /nowhere/rows.parquet: ENOENT.",
    });
  });
});

describe("applyChatTemplate", () => {
  it("is said in the rows when it is off", async () => {
    const dataset = Dataset.fromArray([{ q: "a" }], { inputColumn: "q", applyChatTemplate: false });
    expect((await dataset.slice(0).load())[0]).toMatchObject({ chatTemplate: false });
  });
});
