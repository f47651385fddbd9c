import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { exportModel } from "../../engine/export/export-model.ts";
import { Dataset, Endpoint, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { freePort } from "../sdk/fake-server.ts";
import { ownHome } from "./home.ts";

ownHome();

/** The shipped model as a GGUF file, every number as it was. */
async function nanoAsGguf(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-gguf-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const modelDir = fileURLToPath(new URL("../../engine/models/nano", import.meta.url));
  const output = join(folder, "nano.gguf");
  await exportModel({ modelDir, format: "gguf", type: "F32", output, name: "nano" });
  return output;
}

describe("stored weights", () => {
  it("are served, served again after a stop, and trained on, without a hub", async () => {
    // Whoever asked a hub would fail.
    process.env.HF_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
    const record = await models.push(new URL("../../engine/models/nano", import.meta.url), { name: "mine" });
    expect((await models.list()).map(({ name }) => name)).toEqual(["mine"]);

    const question = [{ role: "user" as const, content: "Write a haiku about rain." }];
    const gguf = await nanoAsGguf();
    await models.push(gguf, { name: "small" });
    const answers: (string | null)[] = [];
    for (const model of ["spotter/nano", "mine", "mine", "small"]) {
      const endpoint = await Endpoint.launch(model);
      await endpoint.waitUntilReady({ timeoutMs: 30_000 });
      const { content } = await endpoint.chat(question, { max_tokens: 24, temperature: 0 });
      answers.push(content);
      const format = { type: "json_schema" as const, json_schema: { name: "digit", schema: { enum: [7] } } };
      const one = await endpoint.chat(question, { response_format: format, max_tokens: 8 });
      expect(one.content, model).toBe("7");
      await endpoint.stop();
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).not.toBe("");

    const run = await new TrainConfig({
      model: "mine",
      dataset: Dataset.fromArray([{ q: "rain", a: "drip" }], { inputColumn: "q", outputColumn: "a" }),
      recipe: recipes.sft({ steps: 1, batchSize: 1 }),
    }).launch();
    const [checkpoint] = (await run.result()).checkpoints();
    expect(checkpoint?.record.model).toEqual({ name: "mine", revision: record.sha256 });
  });
});
