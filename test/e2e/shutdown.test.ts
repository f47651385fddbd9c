import { describe, expect, it } from "vitest";
import { JsonlDataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { stopLocalDaemon } from "../../sdk/local/index.ts";
import { ownHome } from "./home.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);

describe("a daemon that is told to end", () => {
  const { home } = ownHome();

  it("lets the training save, and the next daemon goes on from there", async () => {
    const run = await new TrainConfig({
      model: "spotter/nano",
      dataset: new JsonlDataset(new URL("train.jsonl", haiku), { inputColumn: "keywords" }),
      recipe: recipes.grpo({
        steps: 30,
        promptsPerStep: 2,
        samplesPerPrompt: 2,
        maxTokens: 8,
        saveEvery: 10,
      }),
      rewards: new URL("rewards.ts", haiku),
    }).launch();
    const steps: number[] = [];
    const told: string[] = [];
    for await (const { body } of run.events()) {
      if (body.type === "metrics") steps.push(body.step);
      if (body.type === "state") told.push(body.state);
      if (body.type === "metrics" && body.step === 5) await stopLocalDaemon({ home });
    }
    expect((await run.result()).run).toMatchObject({ state: "succeeded", step: 30, attempt: 2 });
    // Nothing was done twice: the step that was under way when the daemon ended was saved with all before it.
    expect(steps).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(told.filter((state) => state === "running")).toHaveLength(2);
  });
});
