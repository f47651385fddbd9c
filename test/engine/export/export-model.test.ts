import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportModel, type ModelExport } from "../../../engine/export/export-model.ts";
import { Policy } from "../../../engine/onnx/models/policy.ts";
import { loadTextModel } from "../../../engine/onnx/text/text-model.ts";
import { GgufFile } from "../../../engine/onnx/weights/gguf/gguf-file.ts";
import { tinyTokenizer, writeTinyModel } from "../onnx/fixtures/tiny-model.ts";
import { expectError } from "../onnx/support/errors.ts";
import { fixture, relativeError } from "../onnx/support/fixtures.ts";
import { temporaryFolder } from "../onnx/support/temporary.ts";

/** The families' fixtures hold no tokenizer, and an export goes nowhere without one. */
async function withTokenizer(dir: string, family: string): Promise<string> {
  await (await Policy.load(fixture(`families/${family}`))).save(dir);
  const { tokenizer, config } = tinyTokenizer();
  await writeFile(join(dir, "tokenizer.json"), JSON.stringify(tokenizer));
  await writeFile(join(dir, "tokenizer_config.json"), JSON.stringify(config));
  return dir;
}

function weightsOf(policy: Policy): [string, Float32Array][] {
  return [...policy.parameters].map(({ name, data }) => [name, data]);
}

describe.each(["llama3", "qwen2", "qwen3"])("a model of the family %s with an adapter", (family) => {
  it("is written as a folder and as a GGUF file of the merged weights", async () => {
    await using folder = await temporaryFolder();
    const modelDir = await withTokenizer(join(folder.path, "base"), family);
    // Of the stretching, a GGUF file has only what the published models do: factors from 8192 positions.
    const config = JSON.parse(await readFile(join(modelDir, "config.json"), "utf8")) as Record<
      string,
      unknown
    >;
    const scaling = config["rope_scaling"] as object | null;
    if (scaling !== null) config["rope_scaling"] = { ...scaling, original_max_position_embeddings: 8192 };
    await writeFile(join(modelDir, "config.json"), JSON.stringify(config));

    const adapterDir = fixture(`families/${family}/adapter`);
    const adapted = await Policy.load(modelDir, { adapterDir });
    const base: Omit<ModelExport, "format" | "output"> = { modelDir, adapterDir, type: "F32", name: family };
    const hf = await exportModel({ ...base, format: "hf", output: join(folder.path, "hf") });
    const gguf = await exportModel({ ...base, format: "gguf", output: join(folder.path, "m.gguf") });
    const [fromHf, fromGguf] = await Promise.all([Policy.load(hf.path), Policy.load(gguf.path)]);

    expect(fromHf.config).toEqual(adapted.config);
    expect(fromGguf.config).toEqual(adapted.config);
    expect(weightsOf(fromGguf)).toEqual(weightsOf(fromHf));
    const q = "model.layers.1.self_attn.q_proj";
    const disk = (policy: Policy, name: string): Float32Array =>
      policy.parameters.diskTensors().find((tensor) => tensor.name === name)?.data ?? new Float32Array();
    const matrix = (which: string): Float32Array =>
      adapted.adapter?.parameters.diskTensors().find(({ name }) => name.includes(`${q}.${which}`))?.data ??
      new Float32Array();
    const [weights, down, up] = [disk(adapted, `${q}.weight`), matrix("lora_A"), matrix("lora_B")];
    const [rank, width] = [3, 16];
    const merged = weights.map((value, at) => {
      const [row, column] = [Math.floor(at / width), at % width];
      let sum = 0;
      for (let k = 0; k < rank; k++) sum += (up[row * rank + k] ?? 0) * (down[k * width + column] ?? 0);
      return value + 2 * sum;
    });
    expect(relativeError(disk(fromHf, `${q}.weight`), merged)).toBeLessThan(1e-6);
    expect(relativeError(weights, merged)).toBeGreaterThan(0.01);
  });
});

describe("an export", () => {
  it("keeps tokenizer, chat template and ends, and is read from a GGUF file as well", async () => {
    await using folder = await temporaryFolder();
    const modelDir = await writeTinyModel(join(folder.path, "base"));
    const at = (name: string): string => join(folder.path, name);
    const common = { type: "F16" as const, name: "tiny" };
    const first = await exportModel({ ...common, modelDir, format: "gguf", output: at("m.gguf") });
    expect(first.warnings).toEqual([expect.stringContaining("llama.cpp has no name")]);
    const second = await exportModel({ ...common, modelDir: first.path, format: "hf", output: at("hf") });
    const texts = await Promise.all([modelDir, first.path, second.path].map(loadTextModel));
    const question = [{ role: "user" as const, content: "Grüße?" }];
    const said = texts.map(({ chatTemplate, tokenizer }) =>
      tokenizer.encode(chatTemplate?.render(question, { tools: [{ name: "t" }] }) ?? ""),
    );
    expect(said[0]?.length).toBeGreaterThan(10);
    expect(said[1]).toEqual(said[0]);
    expect(said[2]).toEqual(said[0]);
    expect(texts.map(({ stopIds }) => stopIds)).toEqual([[0], [0], [0]]);
    expect(await readdir(folder.path)).toEqual(["base", "hf", "m.gguf"]);
  });

  it("stores matrices as it was told, and vectors as they are", async () => {
    await using folder = await temporaryFolder();
    const modelDir = await writeTinyModel(join(folder.path, "base"));
    const output = join(folder.path, "m.gguf");
    await exportModel({ modelDir, format: "gguf", type: "Q8_0", output, name: "tiny" });
    const file = await GgufFile.open(output);
    await file.close();
    expect(file.tensors.get("blk.0.ffn_down.weight")).toMatchObject({ type: "Q8_0", shape: [64, 96] });
    expect(file.tensors.get("output_norm.weight")?.type).toBe("F32");
    const [read, base] = await Promise.all([Policy.load(output), Policy.load(modelDir)]);
    const name = "model.layers.0.self_attn.o_proj.weight";
    const error = relativeError(read.parameters.get(name).data, base.parameters.get(name).data);
    expect(error).toBeGreaterThan(0);
    expect(error).toBeLessThan(1 / 127);
  });

  it("writes over nothing, and leaves nothing behind where it fails", async () => {
    await using folder = await temporaryFolder();
    const modelDir = await writeTinyModel(join(folder.path, "base"));
    const common = { modelDir, type: "F32" as const, name: "x" };
    await expectError(() => exportModel({ ...common, format: "hf", output: modelDir }), "conflict", "base");
    await writeFile(join(modelDir, "tokenizer.json"), "{}");
    const output = join(folder.path, "m.gguf");
    await expectError(() => exportModel({ ...common, format: "gguf", output }), "model_unsupported");
    const quantized = { ...common, type: "Q8_0" as const, format: "hf" as const };
    await expectError(() => exportModel({ ...quantized, output: join(folder.path, "q") }), "invalid_input");
    expect(await readdir(folder.path)).toEqual(["base"]);
  });
});
