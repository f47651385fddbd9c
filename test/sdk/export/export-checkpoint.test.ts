import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { LoraAdapter } from "../../../engine/onnx/models/lora.ts";
import { writeAdapter } from "../../../engine/onnx/models/peft.ts";
import { Policy } from "../../../engine/onnx/models/policy.ts";
import { Checkpoint } from "../../../sdk/checkpoint.ts";
import { writeTinyModel } from "../../engine/onnx/fixtures/tiny-model.ts";
import { runCli } from "../cli/run-cli.ts";
import { fakeServer, type Handler } from "../fake-server.ts";
import { checkpointRecord } from "../records.ts";

const SHA256 = "a".repeat(64);
const TARGET = "model.layers.0.mlp.down_proj.weight";

let root: string;
let base: string;
let adapter: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "spotter-export-test-"));
  base = await writeTinyModel(join(root, "base"));
  const { config } = await Policy.load(base);
  const lora = new LoraAdapter(config, { rank: 2, alpha: 4, targets: ["down_proj"] });
  for (const { data } of lora.parameters) data.fill(0.5);
  adapter = join(root, "adapter");
  await writeAdapter(lora, adapter);
  return () => rmSync(root, { recursive: true });
});

function output(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-export-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "out");
}

function filesOf(folder: string, prefix = "") {
  return readdirSync(folder).map((name) => {
    const content = readFileSync(join(folder, name));
    return {
      path: prefix + name,
      size: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    };
  });
}

/** A control plane that has one checkpoint, an adapter, and the weights it was trained on. */
async function gym(over: Parameters<typeof checkpointRecord>[1] = {}): ReturnType<typeof fakeServer> {
  const files = [...filesOf(adapter, "model/"), { path: "trainer/state.json", size: 2, sha256: SHA256 }];
  const record = checkpointRecord(7, {
    kind: "lora",
    model: { name: "mine", revision: SHA256 },
    files,
    ...over,
  });
  const handlers: Record<string, Handler> = { "GET /checkpoints/run1@7": () => record };
  for (const { path } of files.slice(0, -1))
    handlers[`GET /checkpoints/run1@7/files/${path}`] = (_, response) =>
      void response.end(readFileSync(join(adapter, path.slice("model/".length))));
  for (const { path } of filesOf(base))
    handlers[`GET /models/${SHA256}/files/${path}`] = (_, response) =>
      void response.end(readFileSync(join(base, path)));
  const model = { v: 1, name: "renamed", sha256: SHA256, files: filesOf(base), bytes: 1, createdAtMs: 1 };
  handlers["GET /models"] = () => ({ items: [model] });
  return fakeServer(handlers);
}

/** An export is a process of its own. */
const timeout = 30_000;

describe("checkpoint.export", { timeout }, () => {
  it("merges an adapter into stored weights, whatever they are called by now", async () => {
    const { client } = await gym();
    const checkpoint = await Checkpoint.get("run1@7", { client });
    const done = await checkpoint.export({ format: "hf", output: output() });
    expect(done.warnings).toEqual([]);
    const [merged, before] = await Promise.all([Policy.load(done.path), Policy.load(base)]);
    const [after = NaN, was = NaN] = [merged, before].map(({ parameters }) => parameters.get(TARGET).data[0]);
    // Rank 2, alpha 4, every element one half: 4/2 * 2 * 0.25 more everywhere.
    expect(after - was).toBeCloseTo(1, 5);
    expect(existsSync(join(done.path, "tokenizer.json"))).toBe(true);
  });

  it("takes away what a killed export has left, and leaves nothing itself", async () => {
    const { client } = await gym();
    const checkpoint = await Checkpoint.get("run1@7", { client });
    const place = output();
    const { pid: dead = 0 } = spawnSync(process.execPath, ["--version"]);
    const left = join(dirname(place), `.out.export-${dead}-abcdef`);
    const living = join(dirname(place), `.out.export-${process.ppid}-abcdef`);
    const foreign = join(dirname(place), ".other.export-1");
    for (const each of [left, living, foreign]) mkdirSync(join(each, "model"), { recursive: true });
    await checkpoint.export({ format: "hf", output: place });
    expect(readdirSync(dirname(place)).sort()).toEqual(
      [living, foreign, place].map((each) => basename(each)).sort(),
    );
  });

  it("writes nothing into Spotter's own folder, whatever leads there", async () => {
    const { client } = await gym();
    const checkpoint = await Checkpoint.get("run1@7", { client });
    const home = dirname(output());
    vi.stubEnv("SPOTTER_HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const link = output();
    symlinkSync(home, link);
    const refused = {
      code: "invalid_input",
      message: expect.stringContaining("Spotter's own folder") as string,
    };
    for (const place of [join(home, "blobs", "x"), join(link, "x.gguf"), home]) {
      await expect(checkpoint.export({ format: "gguf", output: place })).rejects.toMatchObject({
        ...refused,
        where: "output",
      });
      await expect(checkpoint.download(place)).rejects.toMatchObject({ ...refused, where: "folder" });
    }
    expect(readdirSync(home)).toEqual([]);
  });

  it("copies an adapter as it is, and over nothing", async () => {
    const { client, requests } = await gym();
    const checkpoint = await Checkpoint.get("run1@7", { client });
    const folder = output();
    expect(await checkpoint.export({ format: "peft", output: folder })).toEqual({
      path: folder,
      warnings: [],
    });
    expect(filesOf(folder)).toEqual(filesOf(adapter));
    expect(requests.some(({ path }) => path.startsWith("/models"))).toBe(false);
    const again = checkpoint.export({ format: "peft", output: folder });
    await expect(again).rejects.toMatchObject({ code: "conflict", where: "output" });
  });

  it("says where nothing can be written, before it fetches anything", async () => {
    const { client, requests } = await gym();
    const checkpoint = await Checkpoint.get("run1@7", { client });
    const file = join(base, "config.json");
    const before = requests.length;
    // The last one has room for its own name, and none for that of the folder it is made in.
    const long = join(root, "x".repeat(250));
    for (const place of [join(file, "x"), join(file, "x", "y"), "x".repeat(300), long])
      await expect(checkpoint.export({ format: "hf", output: place })).rejects.toMatchObject({
        code: "invalid_input",
        where: "output",
        message: expect.stringContaining("Cannot write") as string,
      });
    expect(requests).toHaveLength(before);
  });

  it("says what cannot be exported, and why", async () => {
    const full = await gym({ kind: "full" });
    const checkpoint = await Checkpoint.get("run1@7", { client: full.client });
    const adapterOfFull = checkpoint.export({ format: "peft", output: output() });
    await expect(adapterOfFull).rejects.toMatchObject({ code: "invalid_input", where: "format" });
    const gone = await gym({ model: { name: "mine", revision: "b".repeat(64) } });
    const orphan = await Checkpoint.get("run1@7", { client: gone.client });
    await expect(orphan.export({ format: "hf", output: output() })).rejects.toMatchObject({
      code: "model_not_found",
      hint: expect.stringContaining("--format peft") as string,
    });
  });
});

describe("spotter checkpoint export", { timeout }, () => {
  it("writes a GGUF file into a folder, and tells where and what is odd about it", async () => {
    const { url } = await gym({ model: { name: base } });
    const folder = output();
    const line = ["checkpoint", "export", "run1@7", "--format", "gguf", "--type", "q8_0", "--output", folder];
    const { code, out, err } = await runCli(line, { url });
    const file = join(folder, "run1-7-q8_0.gguf");
    expect({ code, out }).toEqual({ code: 0, out: `run1@7 is in ${file}.\n` });
    expect(err).toContain("warning: llama.cpp has no name");
    expect((await Policy.load(file)).config.layers).toBe(2);
    expect(await runCli(line, { url })).toMatchObject({
      code: 2,
      err: expect.stringContaining("[conflict]") as string,
    });
  });

  it("refuses formats and types there are not", async () => {
    const line = "checkpoint export run1@7 --output x --format";
    expect((await runCli(`${line} onnx`)).err).toContain("Choose from hf, gguf, peft.");
    expect((await runCli(`${line} hf --type int4`)).err).toContain("Choose from f32, f16, bf16, q8_0.");
  });
});
