import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadTextModel } from "../../../../engine/onnx/text/text-model.ts";
import { END_ID, writeTinyModel } from "../fixtures/tiny-model.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-text-"));
  await writeTinyModel(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe("loadTextModel", () => {
  it("reads tokenizer, template, stop tokens and length", async () => {
    const model = await loadTextModel(dir);
    expect(model).toMatchObject({ stopIds: [END_ID], contextLength: 256, responseFamily: "hermes" });
    expect(model.chatTemplate?.render([{ role: "user", content: "Hi" }])).toBe(
      "<|user|>Hi<|end|><|assistant|>",
    );
  });

  it("prefers chat_template.jinja, and unites the stop tokens of all files", async () => {
    await writeFile(join(dir, "chat_template.jinja"), "from the file");
    await writeFile(join(dir, "generation_config.json"), '{"eos_token_id": [5, 0]}');
    const model = await loadTextModel(dir);
    expect(model.chatTemplate?.render([])).toBe("from the file");
    expect(model).toMatchObject({ responseFamily: "plain", stopIds: [5, 0] });
  });

  it.each(["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"])(
    "does not wait for a pipe in the place of %s",
    { timeout: 5_000 },
    async (name) => {
      await rm(join(dir, name), { force: true });
      execFileSync("mkfifo", [join(dir, name)]);
      await expect(loadTextModel(dir)).rejects.toMatchObject({
        code: "model_corrupt",
        message: expect.stringContaining(`${name} is no regular file`) as string,
      });
    },
  );

  it("names the damaged file", async () => {
    await writeFile(join(dir, "tokenizer_config.json"), "{");
    await expect(loadTextModel(dir)).rejects.toMatchObject({
      code: "model_corrupt",
      message: expect.stringContaining("tokenizer_config.json") as string,
    });
  });
});
