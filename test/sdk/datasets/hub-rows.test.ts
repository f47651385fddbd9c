import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Dataset } from "../../../sdk/dataset.ts";
import { HuggingFaceDataset } from "../../../sdk/hugging-face-dataset.ts";
import { jsonl, parquet, words } from "../../fakes/haiku-files.ts";
import { COMMIT, cutOff, fakeHub, type FakeRepo } from "../../fakes/hub.ts";

const NAME = "datasets/statworx/haiku";
const repo = "statworx/haiku";

async function topics(dataset: Dataset): Promise<unknown[]> {
  return (await dataset.load()).map(({ row }) => row.keywords);
}

const haikus: FakeRepo = {
  files: { "README.md": "#", "data/train-00000-of-00001.parquet": parquet(words(50)) },
};

describe("a dataset on the hub", () => {
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
    // Whatever may be read in the state folder itself: rows are their owner's alone.
    expect(statSync(join(process.env.SPOTTER_HOME ?? "", "cache")).mode & 0o777).toBe(0o700);
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
});
