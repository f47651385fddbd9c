import { createHash } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Dataset } from "../../sdk/dataset.ts";
import { HuggingFaceDataset } from "../../sdk/hugging-face-dataset.ts";
import { jsonl, parquet, words } from "../fakes/haiku-files.ts";
import { COMMIT, fakeHub, sendFile, type FakeRepo } from "../fakes/hub.ts";

const NAME = "datasets/statworx/haiku";
const repo = "statworx/haiku";

async function topics(dataset: Dataset): Promise<unknown[]> {
  return (await dataset.load()).map(({ row }) => row.keywords);
}

const haikus: FakeRepo = {
  files: { "README.md": "#", "data/train-00000-of-00001.parquet": parquet(words(50)) },
};

class HaikuDataset extends HuggingFaceDataset {
  override repo = repo;
  override inputColumn = "keywords";
  override outputColumn = "text";
  override outputFormat = "jsonl" as const;
  override refresh = true;
  override promptTemplate = "Write a haiku about {input}.";
}

describe("HuggingFaceDataset", () => {
  it("is what the tutorial writes: a class with fields, a split at the call", async () => {
    await fakeHub({ [NAME]: haikus });
    const train = new HaikuDataset({ split: "train[:10]" });
    const held = new HaikuDataset({ split: "train[10:15]" });
    const rows = await train.load();
    expect(rows[9]).toEqual({
      prompt: [{ role: "user", content: "Write a haiku about topic 9." }],
      completion: "haiku 9",
      row: { keywords: "topic 9", text: "haiku 9" },
    });
    expect(await topics(held)).toEqual(words(5, 10).map(({ keywords }) => keywords));
    expect([held.inputColumn, held.promptTemplate]).toEqual(["keywords", "Write a haiku about {input}."]);
    expect(train.source).toEqual({ repo, split: "train[:10]", commit: COMMIT });
  });

  it.each([
    ["Parquet", "train.parquet", parquet(words(30))],
    ["JSON Lines", "train.jsonl", jsonl(words(30))],
    ["a JSON array", "data.json", JSON.stringify(words(30), undefined, 2)],
    [
      "CSV",
      "train.csv",
      `keywords,text\r\n${words(30)
        .map((row) => `"${row.keywords}",${row.text}`)
        .join("\r\n")}`,
    ],
    [
      "TSV",
      "train.tsv",
      `keywords\ttext\n${words(30)
        .map((row) => `${row.keywords}\t${row.text}`)
        .join("\n")}\n`,
    ],
    ["gzip", "train.jsonl.gz", gzipSync(jsonl(words(30)))],
    [
      "Zstandard",
      "train.csv.zst",
      zstdCompressSync(
        `keywords,text\n${words(30)
          .map((row) => Object.values(row).join(","))
          .join("\n")}`,
      ),
    ],
  ])("reads %s", async (_name, path, content) => {
    await fakeHub({ [NAME]: { files: { [path]: content } } });
    const dataset = new HuggingFaceDataset({
      repo,
      split: "train[10%:20%]+train[-1:]",
      inputColumn: "keywords",
    });
    expect((await dataset.load()).map(({ row }) => row)).toEqual([...words(3, 3), ...words(1, 29)]);
  });

  it("follows the dataset card, folders and file names to the files of a split", async () => {
    const files = {
      "en/part-1.jsonl": jsonl(words(2)),
      "en/part-2.jsonl": jsonl(words(2, 2)),
      "de/training.jsonl": jsonl(words(1, 7)),
      "de/dev.jsonl": jsonl(words(1, 8)),
      "old/ignored.jsonl": jsonl(words(9, 90)),
    };
    const cardData = {
      configs: [
        { config_name: "en", data_files: [{ split: "test", path: "en/*.jsonl" }] },
        { config_name: "all", default: true, data_files: "{en,de}/*.jsonl" },
      ],
    };
    const hub = await fakeHub({ [NAME]: { files, cardData }, "datasets/plain/names": { files } });
    const read = (params: object) => topics(new HuggingFaceDataset({ inputColumn: "keywords", ...params }));
    expect(await read({ repo, config: "en", split: "test" })).toEqual([
      "topic 0",
      "topic 1",
      "topic 2",
      "topic 3",
    ]);
    expect(await read({ repo })).toHaveLength(6);
    expect(await read({ repo: "plain/names", config: "de", split: "validation" })).toEqual(["topic 8"]);
    await expect(read({ repo, config: "fr" })).rejects.toMatchObject({
      code: "dataset_not_found",
      where: "config",
    });
    await expect(read({ repo, config: "en", split: "tset" })).rejects.toMatchObject({
      code: "dataset_not_found",
      message: 'The dataset statworx/haiku (en) has no split "tset".',
      hint: 'Did you mean "test"?',
    });
    expect(hub.requests.some(({ path }) => path.includes("ignored"))).toBe(false);
  });

  it("reads what the hub converted where the files themselves cannot be read", async () => {
    const converted = { default: { train: ["default/train/0.parquet"] } };
    const hub = await fakeHub({ [NAME]: { files: { "haiku.py": "" }, converted } });
    hub.interfere = ({ path, range }, response) => {
      if (path !== `/api/${NAME}/parquet/default/train/0.parquet`) return false;
      sendFile(response, parquet(words(3)), range);
      return true;
    };
    const dataset = new HuggingFaceDataset({ repo, inputColumn: "keywords" });
    expect(await topics(dataset)).toHaveLength(3);
    await expect(
      new HuggingFaceDataset({ repo, revision: COMMIT, split: "train[:1]" }).load(),
    ).rejects.toMatchObject({
      code: "dataset_not_found",
      where: "revision",
    });
  });

  it("fetches of a Parquet file only the columns and row groups it needs", async () => {
    const long = Array.from({ length: 8_000 }, (_, index) => ({
      keywords: `topic ${index}`,
      text: createHash("sha512").update(String(index)).digest("hex").repeat(3),
    }));
    const file = parquet(long, 200);
    const hub = await fakeHub({ [NAME]: { files: { "train.parquet": file } } });
    const dataset = new HuggingFaceDataset({ repo, split: "train[:5]", columns: ["keywords"] });
    dataset.format = () => ({ prompt: [{ role: "user", content: "x" }] });
    expect((await dataset.load()).map(({ row }) => row)).toEqual(
      long.slice(0, 5).map(({ keywords }) => ({ keywords })),
    );
    const fetched = hub.requests.flatMap(({ range }) => {
      const match = /bytes=(\d+)-(\d+)/.exec(range ?? "");
      return match ? [Number(match[2]) - Number(match[1])] : [];
    });
    expect(file.byteLength).toBeGreaterThan(1_000_000);
    // The footer's reader asks for half a mebibyte at once.
    expect(fetched.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(600_000);
  });

  it("names file and line of damaged rows", async () => {
    await fakeHub({
      "datasets/a/jsonl": { files: { "train.jsonl": '{"keywords":"a"}\n{"keywords":\n' } },
      "datasets/a/csv": { files: { "train.csv": 'keywords,text\na,b\n"c,d\n' } },
      "datasets/a/parquet": { files: { "train.parquet": parquet(words(50)).fill(0, 10, 200) } },
      "datasets/a/footer": { files: { "train.parquet": "PAR1 and nothing else" } },
      "datasets/a/gz": { files: { "train.jsonl.gz": gzipSync(jsonl(words(500))).subarray(0, 200) } },
    });
    const where = async (name: string) =>
      new HuggingFaceDataset({ repo: `a/${name}`, inputColumn: "keywords" }).load().then(
        () => "read",
        (error: { code: string; where: string }) => `${error.code} ${error.where}`,
      );
    expect(await where("jsonl")).toBe("dataset_invalid a/jsonl/train.jsonl:2");
    expect(await where("csv")).toMatch(/^dataset_invalid a\/csv\/train\.csv:[34]$/);
    expect(await where("parquet")).toBe("dataset_invalid a/parquet/train.parquet: row group 0");
    expect(await where("footer")).toBe("dataset_invalid a/footer/train.parquet");
    expect(await where("gz")).toBe("dataset_invalid a/gz/train.jsonl.gz");
  });

  it("names unknown options", () => {
    expect(
      () => new HuggingFaceDataset({ repo, splt: "x", columns: "a", outputFormat: "csv" } as never),
    ).toThrow(
      /splt: unknown key; did you mean "split"\?\n {2}columns: is "a", expected a list of strings\n {2}outputFormat: is "csv", expected "jsonl" or "parquet"/,
    );
  });
});
