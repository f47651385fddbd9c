import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { modelFolder } from "../../engine/model-files.ts";

describe("model folder", () => {
  it("is the shipped one for spotter/nano", async () => {
    expect(await modelFolder({ name: "spotter/nano" })).toBe(
      join(import.meta.dirname, "..", "..", "engine", "models", "nano"),
    );
  });

  it("is an absolute path as given", async () => {
    const dir = await mkdtemp(join(tmpdir(), "spotter-model-"));
    await expect(modelFolder({ name: dir })).rejects.toMatchObject({
      code: "model_not_found",
      where: "model.name",
    });
    await writeFile(join(dir, "config.json"), "{}");
    expect(await modelFolder({ name: dir })).toBe(dir);
    await rm(dir, { recursive: true });
  });

  it("is the GGUF file of a path, and the one in a folder of nothing else", async () => {
    const file = join(import.meta.dirname, "..", "fixtures", "engine", "gguf", "qwen2.gguf");
    expect(await modelFolder({ name: file })).toBe(file);
    const dir = await mkdtemp(join(tmpdir(), "spotter-model-"));
    await writeFile(join(dir, "small.gguf"), "");
    expect(await modelFolder({ name: dir })).toBe(join(dir, "small.gguf"));
    await writeFile(join(dir, "other.gguf"), "");
    await expect(modelFolder({ name: dir })).rejects.toMatchObject({ code: "model_not_found" });
    await writeFile(join(dir, "config.json"), "{}");
    expect(await modelFolder({ name: dir })).toBe(dir);
    await rm(dir, { recursive: true });
    await expect(modelFolder({ name: "/nowhere/x.gguf" })).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("is no file") as string,
    });
  });

  it("says which name was meant, or how to store weights", async () => {
    await expect(modelFolder({ name: "spoter/nano" })).rejects.toMatchObject({
      hint: 'Did you mean "spotter/nano"?',
    });
    const hint = expect.stringContaining("`spotter model pull hf:Qwen/Qwen3-0.6B`") as string;
    await expect(modelFolder({ name: "Qwen/Qwen3-0.6B" })).rejects.toMatchObject({ hint });
  });

  it.each(["Qwen/Qwen3-0.6B", "nano", "../models/nano", ""])("is nowhere for %j", async (name) => {
    await expect(modelFolder({ name })).rejects.toMatchObject({ code: "model_not_found" });
  });
});
