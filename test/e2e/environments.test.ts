import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { Dataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const fixture = (name: string) => new URL(`../fixtures/user-code/${name}`, import.meta.url);
const recipe = recipes.grpo({
  steps: 1,
  promptsPerStep: 2,
  samplesPerPrompt: 4,
  maxTokens: 24,
  maxTurns: 3,
  evalEvery: 1,
});

/** The variables of a run's training process, as the system knows them. */
async function variablesOf(runId: string): Promise<string[]> {
  for (;;) {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const variables = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (variables.includes(`SPOTTER_JOB_ID=train-${runId}-`)) return variables.split("\0");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a run that plays", () => {
  ownHome();

  it("takes its tasks, turns and verdicts from an environment, and learns what the model wrote", async () => {
    const file = fixture("remember.ts");
    const run = await new TrainConfig({
      model: "spotter/nano",
      environments: [{ file, args: { words: ["rain", "snow", "wind"] } }],
      evalEnvironments: [{ file, name: "held", args: { words: ["moon"] } }],
      recipe,
    }).launch();
    await run.result();
    const rollouts = await run.rollouts(1);
    expect(rollouts.length).toBe(8);
    for (const rollout of rollouts) {
      expect(rollout.environment).toBe("remember");
      if (rollout.turns !== 2) continue;
      expect(rollout.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
      expect(rollout.messages[2]?.content).toBe("Write a haiku about it.");
      expect(rollout.verdict.scores["turns"]?.score).toBe(2);
      const written = rollout.mask.filter((each) => each === 1).length;
      expect(rollout.verdict.scores["short"]?.score).toBe(written);
      // Both answers are learnt, and the question between them is not.
      expect(rollout.mask.join("")).toMatch(/^0+1+0+1+$/);
    }
    expect(rollouts.some(({ turns }) => turns === 2)).toBe(true);
    await run.refresh();
    expect(run.record.metrics).toMatchObject({ "eval/missing_verdicts": 0 });
    expect(run.record.metrics["eval/reward/turns"]).toBeGreaterThanOrEqual(1);
  });

  it("lets the model call tools, and says their answers", async () => {
    const file = fixture("sum-tools.ts");
    const run = await new TrainConfig({
      model: "spotter/nano",
      dataset: Dataset.fromArray([{ ask: "What is 2 + 4?" }, { ask: "What is 5 + 1?" }], {
        inputColumn: "ask",
      }),
      rewards: { file, names: ["calls", "short"] },
      tools: file,
      env: { RUN_COLOR: "blue", SPOTTED: "yes" },
      recipe: recipes.grpo({ steps: 1, promptsPerStep: 2, samplesPerPrompt: 8, maxTokens: 60, maxTurns: 2 }),
    }).launch();
    const [variables] = await Promise.all([variablesOf(run.id), run.result()]);
    expect(variables).toContain("RUN_COLOR=blue");
    expect(variables).toContain(`SPOTTER_JOB_ID=train-${run.id}-a1`);
    const called = (await run.rollouts(1)).filter(({ messages }) =>
      messages.some(({ role }) => role === "tool"),
    );
    expect(called.length).toBeGreaterThan(0);
    for (const { messages } of called) {
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
      expect(messages[2]).toMatchObject({ name: "add", tool_call_id: "call_1_1" });
      expect(Number(messages[2]?.content)).toBeGreaterThanOrEqual(0);
    }
  });

  it("takes no variable that its process is started and guarded with", async () => {
    const dataset = Dataset.fromArray([{ ask: "hm" }], { inputColumn: "ask" });
    const rewards = fixture("sum-tools.ts");
    const params = { model: "spotter/nano", dataset, rewards, recipe: recipes.grpo({ steps: 1 }) };
    expect(
      () =>
        new TrainConfig({ ...params, env: { NODE_OPTIONS: "--inspect", SPOTTER_JOB_TOKEN: "x", OK: "1" } }),
    ).toThrow("env: cannot set NODE_OPTIONS, SPOTTER_JOB_TOKEN");
  });

  it("is refused where the code has no such environment or tool", async () => {
    const params = { model: "spotter/nano", recipe: recipes.grpo({ steps: 1 }) };
    const file = fixture("sum-tools.ts");
    await expect(new TrainConfig({ ...params, environments: [{ file }] }).launch()).rejects.toMatchObject({
      code: "environment_missing",
    });
    const dataset = Dataset.fromArray([{ ask: "hm" }], { inputColumn: "ask" });
    await expect(
      new TrainConfig({ ...params, dataset, rewards: file, tools: { file, names: ["ad"] } }).launch(),
    ).rejects.toMatchObject({
      code: "tool_missing",
      message: expect.stringContaining('did you mean "add"?') as string,
    });
    await expect(
      new TrainConfig({ ...params, environments: [{ file: fixture("remember.ts"), args: {} }] }).launch(),
    ).rejects.toMatchObject({ code: "environment_failed" });
    expect(() => new TrainConfig(params)).toThrow("give a dataset, or environments");
  });
});
