import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { JsonlDataset } from "../../sdk/jsonl-dataset.ts";

function fileWith(content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-jsonl-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rows.jsonl");
  writeFileSync(file, content);
  return file;
}

const options = { inputColumn: "q" };

describe("JsonlDataset", () => {
  it("reads a path or a URL, with and without a last line end, CRLF, BOM and blank lines", async () => {
    const file = fileWith('\ufeff{"q":"a"}\r\n\n{"q":"b\u2028c"}\n{"q":"d"}');
    for (const dataset of [new JsonlDataset(file, options), new JsonlDataset(pathToFileURL(file), options)]) {
      expect((await dataset.load()).map(({ row }) => row.q)).toEqual(["a", "b\u2028c", "d"]);
      expect(dataset.name).toBe("rows.jsonl");
    }
  });

  it("reads characters that fall on the border of two reads", async () => {
    const text = "é".repeat(70_000);
    const file = fileWith(`{"q":"a${text}"}\n{"q":"${text}"}\n`);
    expect((await new JsonlDataset(file, options).load())[1]?.row.q).toBe(text);
  });

  it("names file and line of what it cannot use", async () => {
    const broken = fileWith('{"q":"a"}\n\n{"q":\n');
    await expect(new JsonlDataset(broken, options).load()).rejects.toMatchObject({
      code: "dataset_invalid",
      where: `${broken}:3`,
    });
    const list = fileWith("[1]\n");
    await expect(new JsonlDataset(list, options).load()).rejects.toMatchObject({ where: `${list}:1` });
    const column = fileWith('{"q":"a"}\n{"p":"b"}\n');
    await expect(new JsonlDataset(column, options).slice(1).load()).rejects.toMatchObject({
      where: `${column}:2`,
    });
    const bytes = fileWith(
      Buffer.concat([Buffer.from('{"q":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')]),
    );
    await expect(new JsonlDataset(bytes, options).load()).rejects.toMatchObject({
      code: "dataset_invalid",
      message: expect.stringContaining("not UTF-8") as string,
    });
  });

  it("tells all bad lines at once, and yields nothing behind the first", async () => {
    const broken = fileWith('{"q":"a"}\n{"p":"b"}\n{"q":\n{"q":"c"}\n[1]\n');
    const dataset = new JsonlDataset(broken, options);
    await expect(dataset.load()).rejects.toMatchObject({
      code: "dataset_invalid",
      where: `${broken}:2`,
      message: expect.stringMatching(/^3 rows are not valid:\n.*:2: .*\n.*:3: .*\n.*:5: /) as string,
    });
    const seen: unknown[] = [];
    const read = async () => {
      for await (const row of dataset.rows()) seen.push(row);
    };
    await expect(read()).rejects.toMatchObject({ where: `${broken}:3` });
    expect(seen).toEqual([{ q: "a" }, { p: "b" }]);
  });

  it("says which file is missing or empty", async () => {
    await expect(new JsonlDataset("/nowhere/rows.jsonl").load()).rejects.toMatchObject({
      code: "dataset_invalid",
      message: "Cannot read /nowhere/rows.jsonl: ENOENT.",
    });
    await expect(new JsonlDataset(fileWith("\n")).load()).rejects.toMatchObject({ code: "dataset_empty" });
  });
});
