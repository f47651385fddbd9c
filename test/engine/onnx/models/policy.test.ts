import { readFile, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { randomAdapter, randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { SafetensorsFile, writeSafetensors } from "../../../../engine/onnx/weights/safetensors.ts";
import { expectError } from "../support/errors.ts";
import { fixture } from "../support/fixtures.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyConfig } from "../support/tiny.ts";

describe("a policy", () => {
  it.each([true, false])("saves and loads every bit, tied %s", async (tiedEmbeddings) => {
    await using folder = await temporaryFolder();
    const policy = randomPolicy({ ...tinyConfig, tiedEmbeddings }, 1);
    await policy.save(folder.path);
    const loaded = await Policy.load(folder.path);
    expect(loaded.config).toEqual(policy.config);
    expectSame(loaded.parameters, policy.parameters);
  });

  it("keeps Hugging Face's names and shapes on disk, the stacked matrices cut up", async () => {
    await using folder = await temporaryFolder();
    await randomPolicy(tinyConfig, 1).save(folder.path);
    const file = await SafetensorsFile.open(join(folder.path, "model.safetensors"));
    const shapes = Object.fromEntries([...file.tensors].map(([name, { shape }]) => [name, shape]));
    await file.close();
    expect(shapes).toMatchObject({
      "model.embed_tokens.weight": [40, 32],
      "model.layers.1.self_attn.q_proj.weight": [64, 32],
      "model.layers.1.self_attn.k_proj.weight": [32, 32],
      "model.layers.1.self_attn.o_proj.weight": [32, 64],
      "model.layers.1.mlp.up_proj.weight": [48, 32],
      "model.layers.1.mlp.down_proj.weight": [32, 48],
      "model.layers.1.input_layernorm.weight": [32],
      "model.norm.weight": [32],
    });
    expect(Object.keys(shapes)).toHaveLength(2 + 2 * 9);
  });

  it("sets no memory aside for a config.json that asks for more than the weights have", async () => {
    await using folder = await temporaryFolder();
    const policy = randomPolicy(tinyConfig, 1);
    await policy.save(folder.path);
    const file = join(folder.path, "config.json");
    const config = JSON.parse(await readFile(file, "utf8")) as object;
    // As float32 the first would be half a terabyte.
    for (const change of [{ vocab_size: 2 ** 21, hidden_size: 65_536 }, { num_hidden_layers: 1000 }]) {
      await writeFile(file, JSON.stringify({ ...config, ...change }));
      await expectError(() => Policy.load(folder.path), "model_corrupt", "model.safetensors");
    }
  });

  it("loads shards by their index", async () => {
    await using folder = await temporaryFolder();
    const policy = randomPolicy(tinyConfig, 1);
    await policy.save(folder.path);
    const tensors = policy.parameters.diskTensors();
    const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    await writeSafetensors(join(folder.path, names[0] ?? ""), tensors.slice(0, 7));
    await writeSafetensors(join(folder.path, names[1] ?? ""), tensors.slice(7));
    await rename(join(folder.path, "model.safetensors"), join(folder.path, "old"));
    const index = {
      weight_map: Object.fromEntries(tensors.map(({ name }, i) => [name, names[i < 7 ? 0 : 1]])),
    };
    await writeFile(join(folder.path, "model.safetensors.index.json"), JSON.stringify(index));
    expectSame((await Policy.load(folder.path)).parameters, policy.parameters);

    await rename(join(folder.path, names[1] ?? ""), join(folder.path, "gone"));
    await expectError(() => Policy.load(folder.path), "model_corrupt", names[1] ?? "");
  });

  it("names what is wrong with a folder that is no model, or a damaged one", async () => {
    await using folder = await temporaryFolder();
    await expectError(() => Policy.load(folder.path), "model_not_found", "config.json");
    await randomPolicy(tinyConfig, 1).save(folder.path);
    const weights = join(folder.path, "model.safetensors");
    const config = join(folder.path, "config.json");
    await truncate(weights, 5000);
    await expectError(() => Policy.load(folder.path), "model_corrupt", weights);

    await randomPolicy({ ...tinyConfig, layers: 1 }, 1).save(folder.path);
    const json = JSON.parse(await readFile(config, "utf8")) as Record<string, unknown>;
    await writeFile(config, JSON.stringify({ ...json, num_hidden_layers: 2 }));
    await expectError(() => Policy.load(folder.path), "model_corrupt", "model.layers.1.", "missing");
    await writeFile(config, JSON.stringify({ ...json, vocab_size: 41 }));
    await expectError(() => Policy.load(folder.path), "model_corrupt", "[40,32], not [41,32]");

    await rename(weights, join(folder.path, "other"));
    await expectError(() => Policy.load(folder.path), "model_not_found", "model.safetensors");
  });

  it("brings tokenizer and chat template along when it is saved elsewhere", async () => {
    await using from = await temporaryFolder();
    await using to = await temporaryFolder();
    await randomPolicy(tinyConfig, 1).save(from.path);
    await writeFile(join(from.path, "tokenizer.json"), "{}");
    await writeFile(join(from.path, "notes.txt"), "private");
    await (await Policy.load(from.path)).save(to.path);
    expect(await readFile(join(to.path, "tokenizer.json"), "utf8")).toBe("{}");
    await expect(readFile(join(to.path, "notes.txt"))).rejects.toThrow("ENOENT");
  });
});

describe("an adapter", () => {
  it("saves and loads every bit, in PEFT's names", async () => {
    await using folder = await temporaryFolder();
    const policy = randomPolicy(tinyConfig, 1);
    policy.adapter = randomAdapter(
      tinyConfig,
      { rank: 3, alpha: 8, targets: ["v_proj", "q_proj", "down_proj"] },
      2,
    );
    await policy.saveAdapter(folder.path);
    await policy.save(join(folder.path, "base"));
    const { adapter } = await Policy.load(join(folder.path, "base"), { adapterDir: folder.path });
    if (adapter === undefined) throw new Error("No adapter");
    expect(adapter).toMatchObject({ rank: 3, alpha: 8, targets: ["q_proj", "v_proj", "down_proj"] });
    expectSame(adapter.parameters, policy.adapter.parameters);

    const file = await SafetensorsFile.open(join(folder.path, "adapter_model.safetensors"));
    const stem = "base_model.model.model.layers.1.self_attn.q_proj";
    expect(file.tensors.get(`${stem}.lora_A.weight`)?.shape).toEqual([3, 32]);
    expect(file.tensors.get(`${stem}.lora_B.weight`)?.shape).toEqual([64, 3]);
    expect(file.tensors.size).toBe(2 * 3 * 2);
    await file.close();
    const config = JSON.parse(await readFile(join(folder.path, "adapter_config.json"), "utf8")) as unknown;
    expect(config).toMatchObject({ peft_type: "LORA", r: 3, lora_alpha: 8, task_type: "CAUSAL_LM" });
  });

  it.each([
    [{ peft_type: "IA3" }, "peft_type"],
    [{ bias: "all" }, "bias"],
    [{ use_dora: true }, "use_dora"],
    [{ rank_pattern: { q_proj: 4 } }, "rank_pattern"],
    [{ modules_to_save: ["lm_head"] }, "modules_to_save"],
    [{ layers_to_transform: [0] }, "layers_to_transform"],
    [{ target_modules: ".*q_proj" }, "target_modules"],
  ])("that is more than plain LoRA is refused: %j", async (change, key) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "adapter_config.json");
    const plain = JSON.parse(await readFile(fixture("adapter/adapter_config.json"), "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...plain, ...change }));
    const load = (): Promise<Policy> => Policy.load(fixture("llama-tied"), { adapterDir: folder.path });
    await expectError(load, "model_unsupported", key);
  });
});

function expectSame(a: ParameterSet, b: ParameterSet): void {
  const wanted = [...b];
  expect([...a].map(({ name }) => name)).toEqual(wanted.map(({ name }) => name));
  for (const { name, data } of a) {
    expect(Buffer.compare(bytes(data), bytes(b.get(name).data)), name).toBe(0);
  }
}

function bytes(data: Float32Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
