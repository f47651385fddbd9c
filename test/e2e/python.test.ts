import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { Alias } from "../../sdk/alias.ts";
import { Dataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const file = (name: string) => new URL(`../fixtures/python-project/${name}`, import.meta.url);
const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const params = {
  model: "spotter/nano",
  dataset: Dataset.fromArray(
    [
      { ask: "What is 2 + 4?", metadata: { length: 20 } },
      { ask: "What is 5 + 1?", metadata: { length: 40 } },
    ],
    { inputColumn: "ask" },
  ),
  rewards: file("rewards.py"),
  tools: file("tools.py"),
  recipe: recipes.grpo({ steps: 2, promptsPerStep: 2, samplesPerPrompt: 4, maxTokens: 48, maxTurns: 2 }),
};

describe.skipIf(!hasPython)("a run with rewards.py and tools.py", () => {
  ownHome();

  it("judges and answers in Python beside the trainer, and learns", async () => {
    const run = await new TrainConfig({ ...params, allowPython: true, alias: "adder" }).launch();
    await run.result();
    // A14: what the training came to answers by the name that was asked for.
    expect((await Alias.get("adder")).targets).toEqual([{ model: run.id, weight: 1 }]);
    const rollouts = await run.rollouts(2);
    expect(rollouts.length).toBe(8);
    for (const { verdict, messages, row } of rollouts) {
      const last = messages.at(-1);
      const length = last?.role === "assistant" ? String(last.content).length : Number.NaN;
      const { length: wanted } = row["metadata"] as { length: number };
      if (!Number.isNaN(length))
        expect(verdict.scores["near"]?.score).toBeCloseTo(1 / (1 + Math.abs(length - wanted)), 9);
      const gate = verdict.scores["said_something"];
      expect(gate?.precondition).toBe(true);
      const sum = (gate?.score ?? 0) + (verdict.scores["near"]?.score ?? 0);
      expect(verdict.total).toBeCloseTo(gate?.score === 0 ? 0 : sum, 9);
    }
    const called = [...(await run.rollouts(1)), ...rollouts].flatMap(({ messages, row }) =>
      messages.flatMap((message) => (message.role === "tool" ? [{ message, row }] : [])),
    );
    const answered = called.filter(({ message }) => String(message.content).includes("sum"));
    expect(answered.length).toBeGreaterThan(0);
    for (const { message, row } of answered)
      expect(JSON.parse(String(message.content))).toMatchObject(row["metadata"] as object);
    await run.refresh();
    expect(run.record.metrics).toMatchObject({ missing_verdicts: 0 });
  });

  it("is refused without the grant, before anything is sent", () => {
    expect(() => new TrainConfig(params)).toThrow(
      expect.objectContaining({ code: "python_not_allowed", where: "rewards" }) as Error,
    );
  });
});
