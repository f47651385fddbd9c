import { gzipSync, zstdCompressSync } from "node:zlib";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it, vi } from "vitest";
import type { Dataset } from "../../sdk/dataset.ts";
import { HuggingFaceDataset } from "../../sdk/hugging-face-dataset.ts";
import { COMMIT, cutOff, fakeHub, sendFile, type FakeRepo } from "../fakes/hub.ts";

const NAME = "datasets/statworx/haiku";
const repo = "statworx/haiku";

function words(count: number, first = 0): { keywords: string; text: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    keywords: `topic ${first + index}`,
    text: `haiku ${first + index}`,
  }));
}

function jsonl(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function parquet(rows: readonly { keywords: string; text: string }[], rowGroupSize = 10): Uint8Array {
  const columns = (["keywords", "text"] as const).map((name) => ({
    name,
    data: rows.map((row) => row[name]),
    type: "STRING" as const,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData: columns, rowGroupSize }));
}

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

  it("goes on where a broken connection ended", async () => {
    const body = jsonl(words(2_000));
    const hub = await fakeHub({ [NAME]: { files: { "train.jsonl": body } } });
    let cuts = 0;
    hub.interfere = ({ path, range }, response, file) => {
      if (!path.includes("/resolve/") || file === undefined || cuts++ >= 3) return false;
      cutOff(response, file, range, 20_000);
      return true;
    };
    expect(await topics(new HuggingFaceDataset({ repo, inputColumn: "keywords" }))).toHaveLength(2_000);
    const last = Buffer.byteLength(body) - 1;
    const ranges = hub.requests.filter(({ path }) => path.includes("/resolve/")).map(({ range }) => range);
    expect(ranges).toEqual([undefined, ...[20_000, 40_000, 60_000].map((start) => `bytes=${start}-${last}`)]);
  });

  it("waits as long as a 429 asks, and says which host refused when it stays", async () => {
    const hub = await fakeHub({ [NAME]: haikus });
    let left = 2;
    hub.interfere = (_asked, response) => {
      if (left-- <= 0) return false;
      response.writeHead(429, { "retry-after": "0.02" }).end();
      return true;
    };
    expect(await topics(new HuggingFaceDataset({ repo, inputColumn: "keywords" }))).toHaveLength(50);
    left = Infinity;
    const refused = new HuggingFaceDataset({ repo, revision: "other", inputColumn: "keywords" });
    await expect(refused.load()).rejects.toMatchObject({
      code: "hub_rate_limited",
      kind: "capacity",
      where: new URL(hub.url).host,
    });
  });

  it("says how to get into a gated repository, and sends the token to the hub only", async () => {
    vi.stubEnv("HF_TOKEN", "");
    const hub = await fakeHub({
      [NAME]: {
        ...haikus,
        refuse: { status: 401, code: "GatedRepo", when: (token) => token !== "hf_secret" },
      },
    });
    const dataset = new HuggingFaceDataset({ repo, inputColumn: "keywords" });
    await expect(dataset.load()).rejects.toMatchObject({
      code: "hub_gated",
      hint: `Open ${hub.url}/datasets/${repo} and accept its terms, then set HF_TOKEN to a token that may read it.`,
    });
    vi.stubEnv("HF_TOKEN", "hf_wrong");
    const error: unknown = await dataset.load().catch((caught: unknown) => caught);
    expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain("hf_wrong");
    vi.stubEnv("HF_TOKEN", "hf_secret");
    expect(await topics(dataset)).toHaveLength(50);
    expect(hub.requests.at(-1)?.token).toBe("hf_secret");
  });

  it("names a repository or revision that does not exist", async () => {
    await fakeHub({ [NAME]: haikus });
    await expect(new HuggingFaceDataset({ repo: "no/such" }).load()).rejects.toMatchObject({
      code: "dataset_not_found",
      message: expect.stringContaining("no/such does not exist, or is private") as string,
    });
    await expect(new HuggingFaceDataset({ repo, revision: "v9" }).load()).rejects.toMatchObject({
      code: "dataset_not_found",
      message: expect.stringContaining('has no revision "v9"') as string,
    });
    await expect(new HuggingFaceDataset({}).load()).rejects.toMatchObject({
      code: "invalid_input",
      where: "repo",
    });
    await expect(new HuggingFaceDataset({ repo: "../x" }).load()).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("stays at the commit it saw first, until refresh", async () => {
    const hub = await fakeHub({ [NAME]: { files: { "train.jsonl": jsonl(words(1)) } } });
    const read = async (params = {}) => {
      const dataset = new HuggingFaceDataset({ repo, inputColumn: "keywords", ...params });
      return [...(await topics(dataset)), dataset.commit];
    };
    expect(await read()).toEqual(["topic 0", COMMIT]);
    const commit = "f".repeat(40);
    hub.repos[NAME] = { commit, files: { "train.jsonl": jsonl(words(1, 7)) } };
    expect(await read()).toEqual(["topic 0", COMMIT]);
    expect(await read({ refresh: true })).toEqual(["topic 7", commit]);
    expect(await read()).toEqual(["topic 7", commit]);
    expect(await read({ revision: commit })).toEqual(["topic 7", commit]);
  });

  it("is read from the cache without a hub, and says what was tried where that is not enough", async () => {
    const hub = await fakeHub({ [NAME]: haikus });
    const options = { repo, split: "train[:3]", inputColumn: "keywords" };
    await new HuggingFaceDataset(options).load();
    await hub.close();
    const again = new HuggingFaceDataset({ ...options, promptTemplate: "{text}!" });
    expect((await again.load())[0]?.prompt).toEqual([{ role: "user", content: "haiku 0!" }]);
    expect(again.commit).toBe(COMMIT);
    for (const other of [{ refresh: true }, { split: "train[:4]" }]) {
      await expect(new HuggingFaceDataset({ ...options, ...other }).load()).rejects.toMatchObject({
        code: "hub_unreachable",
        message: expect.stringMatching(
          /statworx\/haiku: http:\/\/127\.0\.0\.1:\d+\/.* failed \d times \(ECONNREFUSED\)/,
        ) as string,
      });
    }
  });

  it("keeps nothing of a reading that ended early, and fetches altered copies again", async () => {
    const hub = await fakeHub({ [NAME]: { files: { "train.jsonl": jsonl(words(5)) } } });
    const dataset = new HuggingFaceDataset({ repo, inputColumn: "keywords" });
    await dataset.slice(0, 2).load();
    const folder = join(process.env.SPOTTER_HOME ?? "", "cache", "datasets");
    expect(readdirSync(folder)).toEqual([]);
    await dataset.load();
    const [rows = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    writeFileSync(join(folder, rows), jsonl(words(2)));
    const before = hub.requests.length;
    expect(await topics(dataset)).toHaveLength(5);
    expect(hub.requests.length).toBeGreaterThan(before);
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
