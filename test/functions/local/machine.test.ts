import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryMiB, modelConfig, modelFault } from "../../../functions/local/machine.ts";

const GIB = 2 ** 30;

describe("this machine", () => {
  it("has what its control group leaves it", () => {
    expect(memoryMiB(16 * GIB, 2 * GIB)).toBe(2_048);
    // No limit, as kernels say it.
    for (const none of [0, 2 ** 63, 16 * GIB]) expect(memoryMiB(16 * GIB, none)).toBe(16_384);
    expect(memoryMiB()).toBeGreaterThan(100);
  });

  it("reads the config.json of a folder, and nothing that is none", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(await modelConfig(folder)).toBeUndefined();
    writeFileSync(join(folder, "config.json"), '{"vocab_size": 5}');
    expect(await modelConfig(folder)).toEqual({ vocab_size: 5 });
    expect(await modelConfig("relative")).toBeUndefined();
    writeFileSync(join(folder, "config.json"), "{");
    expect(await modelConfig(folder)).toBeUndefined();
  });

  it("reads what a GGUF file says in place of a config.json", async () => {
    const file = fileURLToPath(new URL("../../fixtures/engine/gguf/qwen3.gguf", import.meta.url));
    expect(await modelConfig(file)).toMatchObject({
      model_type: "qwen3",
      hidden_size: expect.any(Number) as number,
    });
    expect(await modelConfig("/none.gguf")).toBeUndefined();
  });

  it("tells why no model can be read from a path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const at = (name: string) => join(folder, name);
    writeFileSync(at("empty.gguf"), "");
    writeFileSync(at("text.gguf"), "Once upon a time");
    writeFileSync(at("good.GGUF"), "GGUF and more");
    writeFileSync(at("notes.txt"), "GGUF");
    for (const name of ["bare", "hf", "gguf", "folder.gguf"]) mkdirSync(at(name));
    writeFileSync(at("hf/config.json"), "{}");
    writeFileSync(at("gguf/one.gguf"), "");
    const names = [
      "none",
      "empty.gguf",
      "text.gguf",
      "good.GGUF",
      "notes.txt",
      "bare",
      "hf",
      "gguf",
      "folder.gguf",
    ];
    expect(await Promise.all(names.map((name) => modelFault(at(name))))).toEqual([
      "does not exist",
      "is empty",
      "does not begin as GGUF files do",
      undefined,
      "is no folder and no GGUF file",
      "holds no config.json",
      undefined,
      undefined,
      "holds no config.json",
    ]);
    expect(await modelFault("/dev/null")).toBe("is no folder and no GGUF file");
  });
});
