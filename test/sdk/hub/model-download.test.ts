import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Client } from "../../../sdk/client.ts";
import { downloadHubFile } from "../../../sdk/hub/download-hub-file.ts";
import { openHub, type HubFile } from "../../../sdk/hub/hub.ts";
import { modelRepo, pushModelSource } from "../../../sdk/hub/push-model.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ModelRecord } from "../../../sdk/schema/model.ts";
import { COMMIT, fakeHub, sendFile } from "../../fakes/hub.ts";

const WEIGHTS = new Uint8Array(50_000).map((_, index) => index % 251);
const FILES = { "config.json": '{"a": 1}', "tokenizer.json": "{}", "model.safetensors": WEIGHTS };
const SOURCE = "hf:me/small";

async function listed(path: string): Promise<{ repo: Awaited<ReturnType<typeof modelRepo>>; file: HubFile }> {
  const repo = await modelRepo(SOURCE, undefined);
  return { repo, file: repo.files.find((each) => each.path === path) as HubFile };
}

/** A control plane that has the weights under their name, or takes whatever is pushed. */
function control(record?: Partial<ModelRecord>) {
  const asked: string[] = [];
  const request = async (_schema: unknown, method: string, path: string) => {
    asked.push(`${method} ${path}`);
    if (method === "POST") return { sha256: "x", missing: [], model: { name: "me/small", fresh: true } };
    if (record !== undefined) return record;
    throw new SpotterError("model_not_found", "No such model.", { status: 404 });
  };
  return { client: { request } as unknown as Client, asked };
}

const PARAMS = { name: undefined, replace: false, signal: undefined, onProgress: () => {} };

describe("a model of the hub", () => {
  it("is downloaded at its commit, and what is here already is not asked for again", async () => {
    const hub = await fakeHub({ "me/small": { files: FILES } });
    const { repo, file } = await listed("model.safetensors");
    expect(repo.commit).toBe(COMMIT);
    const path = await downloadHubFile(openHub(), repo, file);
    expect(new Uint8Array(readFileSync(path))).toEqual(WEIGHTS);
    expect(hub.requests.at(-1)?.path).toBe(`/me/small/resolve/${COMMIT}/model.safetensors`);
    const before = hub.requests.length;
    expect(await downloadHubFile(openHub(), repo, file)).toBe(path);
    expect(hub.requests).toHaveLength(before);
  });

  it("goes on where a process that is gone has ended", async () => {
    const hub = await fakeHub({ "me/small": { files: FILES } });
    const { repo, file } = await listed("model.safetensors");
    const small = await listed("config.json");
    const folder = dirname(await downloadHubFile(openHub(), small.repo, small.file));
    // No process has this id: it is above what Linux and macOS give.
    writeFileSync(join(folder, "model.safetensors.99999999.part"), WEIGHTS.subarray(0, 20_000));
    const path = await downloadHubFile(openHub(), repo, file);
    expect(new Uint8Array(readFileSync(path))).toEqual(WEIGHTS);
    expect(hub.requests.at(-1)?.range).toMatch(/^bytes=20000-/);
  });

  it.each([
    ["model.safetensors", "its hash is"],
    ["config.json", "its hash is"],
  ])("is refused where %s arrives with another byte, and fetched anew then", async (name, why) => {
    const hub = await fakeHub({ "me/small": { files: FILES } });
    const { repo, file } = await listed(name);
    hub.interfere = ({ path, range }, response, body) => {
      if (!path.includes("/resolve/") || body === undefined) return false;
      const damaged = Uint8Array.from(body);
      damaged[3] = (damaged[3] ?? 0) ^ 1;
      sendFile(response, damaged, range);
      return true;
    };
    const damaged = downloadHubFile(openHub(), repo, file);
    await expect(damaged).rejects.toMatchObject({ code: "blob_corrupt", where: name });
    await expect(damaged).rejects.toThrow(why);
    hub.interfere = () => false;
    expect(readFileSync(await downloadHubFile(openHub(), repo, file))).toEqual(
      Buffer.from(FILES[name as keyof typeof FILES]),
    );
  });

  it("is used as it was listed last where the hub is away, and never asked for with HF_HUB_OFFLINE", async () => {
    const hub = await fakeHub({ "me/small": { files: FILES } });
    const { repo, file } = await listed("config.json");
    await downloadHubFile(openHub(), repo, file);
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    const before = hub.requests.length;
    const offline = await listed("config.json");
    expect(readFileSync(await downloadHubFile(openHub(), offline.repo, offline.file), "utf8")).toBe(
      '{"a": 1}',
    );
    const { file: weights } = await listed("model.safetensors");
    const missing = downloadHubFile(openHub(), offline.repo, weights);
    await expect(missing).rejects.toMatchObject({ code: "hub_unreachable", where: "HF_HUB_OFFLINE" });
    await expect(modelRepo("hf:me/other", undefined)).rejects.toMatchObject({ code: "hub_unreachable" });
    expect(hub.requests).toHaveLength(before);
    vi.stubEnv("HF_HUB_OFFLINE", "");
    await hub.close();
    expect((await modelRepo(SOURCE, undefined)).commit).toBe(COMMIT);
  });

  it("that is gated says whose terms to accept, and where the token goes", async () => {
    const hub = await fakeHub({ "me/small": { files: FILES, refuse: { status: 403, code: "GatedRepo" } } });
    await expect(modelRepo(SOURCE, undefined)).rejects.toMatchObject({
      code: "hub_gated",
      hint: `Open ${hub.url}/me/small and accept its terms, then set HF_TOKEN to a token that may read it.`,
    });
  });

  it("whose commit is stored already is not downloaded to find that out; another one is", async () => {
    const hub = await fakeHub({ "me/small": { files: FILES } });
    const record = { name: "me/small", source: { repo: "me/small", commit: COMMIT } };
    const same = control(record);
    expect(await pushModelSource(same.client, SOURCE, PARAMS)).toBe(record);
    expect(same.asked).toEqual(["GET /models/me/small"]);
    expect(hub.requests.filter(({ path }) => path.includes("/resolve/"))).toEqual([]);
    const older = control({ ...record, source: { repo: "me/small", commit: "f".repeat(40) } });
    expect(await pushModelSource(older.client, SOURCE, PARAMS)).toMatchObject({ fresh: true });
    expect(older.asked).toContain("POST /models");
    const none = control();
    expect(await pushModelSource(none.client, SOURCE, PARAMS)).toMatchObject({ fresh: true });
  });
});
