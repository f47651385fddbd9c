import { describe, expect, it } from "vitest";
import { Dataset, Endpoint, JsonlDataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const tools = new URL("../fixtures/user-code/sum-tools.ts", import.meta.url);
const haiku = new JsonlDataset(new URL("../../examples/haiku/train.jsonl", import.meta.url), {
  inputColumn: "keywords",
  promptTemplate: "Write a haiku about {input}.",
});

describe("a distillation", () => {
  ownHome();

  it("has its teacher served as long as it needs it, and calls tools (A37, A38)", async () => {
    const sums = [{ ask: "What is 2 + 4?" }, { ask: "What is 5 + 1?" }];
    const run = await new TrainConfig({
      model: "spotter/nano",
      teacher: { model: "spotter/nano", agentic: true },
      tools,
      dataset: Dataset.fromArray(sums, { inputColumn: "ask" }),
      recipe: recipes.distill({
        ...{ steps: 2, promptsPerStep: 2, samplesPerPrompt: 4, maxTokens: 40, maxTurns: 2 },
      }),
    }).launch();
    const phases = new Set<string>();
    const divergences: number[] = [];
    for await (const { body } of run.events()) {
      if (body.type === "phase") phases.add(body.phase);
      if (body.type === "metrics") divergences.push(body.metrics["reverse_kl"] ?? Number.NaN);
    }
    await run.refresh();
    expect(run.record).toMatchObject({ kind: "distill", step: 2, state: "succeeded" });
    // Before its first step the student is its teacher, token for token.
    expect(divergences[0]).toBeCloseTo(0, 3);
    expect(divergences).toHaveLength(2);
    expect(phases).toContain("wait-for-teacher");
    const rollouts = await run.rollouts(1);
    expect(rollouts.some(({ messages }) => messages.some(({ role }) => role === "tool"))).toBe(true);
    const [teacher, ...others] = await Endpoint.list();
    expect(teacher?.record).toMatchObject({ name: `teacher-${run.id}`, desired: 0 });
    expect(others).toEqual([]);
  });

  it("learns the answers of an endpoint by its name, without log-probabilities of its own (A5)", async () => {
    await Endpoint.launch("spotter/nano", { name: "sage" });
    const run = await new TrainConfig({
      model: "spotter/nano",
      teacher: "sage",
      dataset: haiku,
      recipe: recipes.distill({
        ...{ steps: 1, answers: "teacher", promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 60 },
      }),
    }).launch();
    await run.result();
    const rollouts = await run.rollouts(1);
    expect(new Set(rollouts.map(({ text }) => text)).size).toBe(4);
    for (const { mask, logprobs, finishReason, text } of rollouts) {
      expect(mask.filter((each) => each === 1).length).toBeLessThanOrEqual(60);
      expect(logprobs.every((each, at) => (mask[at] === 1 ? each < 0 : each === 0))).toBe(true);
      expect(text.length).toBeGreaterThan(10);
      expect(["stop", "length"]).toContain(finishReason);
    }
    expect(rollouts.some(({ finishReason }) => finishReason === "stop")).toBe(true);
    await run.refresh();
    expect(run.record.metrics["forward_kl"]).toBeCloseTo(0, 3);
    expect(run.record.metrics["loss"]).toBeGreaterThan(0);
  });
});
