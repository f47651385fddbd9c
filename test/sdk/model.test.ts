import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { modelOf, models } from "../../sdk/model.ts";

describe("models.get", () => {
  it("takes names as they are", () => {
    expect(models.get("spotter/nano").ref).toEqual({ name: "spotter/nano" });
    expect(models.get("Qwen/Qwen3-0.6B", { revision: "main" }).ref).toEqual({
      name: "Qwen/Qwen3-0.6B",
      revision: "main",
    });
  });

  it("makes folders absolute, given as path or URL", () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "config.json"), "{}");
    expect(models.get(folder).name).toBe(folder);
    expect(models.get(`./${relative(process.cwd(), folder)}`).name).toBe(folder);
    expect(models.get(pathToFileURL(folder)).name).toBe(folder);
  });

  it("makes GGUF files absolute as well", () => {
    const file = fileURLToPath(new URL("../fixtures/engine/gguf/qwen2.gguf", import.meta.url));
    expect(models.get(`./${relative(process.cwd(), file)}`).name).toBe(file);
    expect(() => models.get("./none.gguf")).toThrow(/The model file .*none\.gguf does not exist/);
  });

  it("says what is wrong with what is no model", () => {
    expect(() => models.get(tmpdir())).toThrow(
      expect.objectContaining({ code: "model_not_found", where: tmpdir() }),
    );
    expect(() => models.get("./no-such-folder")).toThrow(/does not exist/);
    expect(() => models.get("two words")).toThrow(expect.objectContaining({ code: "model_not_found" }));
    expect(() => models.get("")).toThrow(expect.objectContaining({ code: "model_not_found" }));
  });

  it.each([null, undefined, 5, {}])("refuses %j", (value) => {
    expect(() => modelOf(value as never)).toThrow(
      expect.objectContaining({ code: "invalid_input", where: "model" }),
    );
  });

  it("refuses URLs of other places", () => {
    expect(() => models.get(new URL("https://example.com/m"))).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });

  it("takes answers apart", () => {
    const parsed = models.get("spotter/nano").parseResponse("<think>hm</think>Hello");
    expect(parsed).toEqual({ content: "Hello", reasoning: "hm", toolCalls: [] });
  });
});
