import { describe, expect, it } from "vitest";
import { Dataset, Endpoint, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { freePort } from "../sdk/fake-server.ts";
import { ownHome } from "./home.ts";

ownHome();

describe("stored weights", () => {
  it("are served, served again after a stop, and trained on, without a hub", async () => {
    // Whoever asked a hub would fail.
    process.env.HF_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
    const record = await models.push(new URL("../../engine/models/nano", import.meta.url), { name: "mine" });
    expect((await models.list()).map(({ name }) => name)).toEqual(["mine"]);

    const question = [{ role: "user" as const, content: "Write a haiku about rain." }];
    const answers: (string | null)[] = [];
    for (const model of ["spotter/nano", "mine", "mine"]) {
      const endpoint = await Endpoint.launch(model);
      await endpoint.waitUntilReady({ timeoutMs: 30_000 });
      const { content } = await endpoint.chat(question, { max_tokens: 24, temperature: 0 });
      answers.push(content);
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
