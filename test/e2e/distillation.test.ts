import { describe, expect, it } from "vitest";
import { Endpoint, JsonlDataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const dataset = new JsonlDataset(new URL("../../examples/haiku/train.jsonl", import.meta.url), {
  inputColumn: "keywords",
  promptTemplate: "Write a haiku about {input}.",
});

describe("a distillation", () => {
  ownHome();

  it("learns from an endpoint by its name, without rewards", { timeout: 20_000 }, async () => {
    const teacher = await Endpoint.launch("spotter/nano", { name: "sage" });
    const run = await new TrainConfig({
      model: "spotter/nano",
      teacher,
      dataset,
      recipe: recipes.distill({ steps: 2, promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 24 }),
    }).launch();
    await run.result();
    await run.refresh();
    expect(run.record).toMatchObject({ kind: "distill", step: 2, state: "succeeded" });
    // Before its first step the student is its teacher.
    expect(run.record.metrics["reverse_kl"]).toBeCloseTo(0, 2);
    expect((await run.rollouts(1)).length).toBe(4);
  });
});
