import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { parseWith } from "../../../sdk/schema/parse.ts";
import { runSpec } from "../../../sdk/schema/run-spec.ts";
import { updateRun } from "../../../sdk/schema/run.ts";

const sha256 = "0".repeat(64);
const base = {
  kind: "rl",
  model: { name: "spotter/nano" },
  dataset: { sha256, rows: 1 },
  rewards: { code: { sha256 } },
  algorithm: { kind: "grpo" },
  trainer: { steps: 1 },
};

function findingsOf(changes: object): string[] {
  try {
    parseWith(runSpec, { ...base, ...changes }, "The run");
    return [];
  } catch (error) {
    if (SpotterError.is(error))
      return error.message
        .split("\n")
        .slice(1)
        .map((line) => line.trim());
    throw error;
  }
}

describe("runSpec", () => {
  it("is fine with its defaults, and with names in any writing", () => {
    expect(findingsOf({})).toEqual([]);
    expect(findingsOf({ name: "古池 \u{1f438} – v2", tags: ["haïku", "a b"] })).toEqual([]);
    const rollout = { promptsPerStep: 4096, samplesPerPrompt: 16, maxTokens: 131_072, temperature: 0.01 };
    expect(findingsOf({ rollout, trainer: { steps: 10_000_000, learningRate: 10, beta1: 0 } })).toEqual([]);
  });

  it.each<[object, string]>([
    [{ webhooks: [{ url: "http://[::1" }] }, "webhooks.0.url: is no URL"],
    [{ trackers: [{ kind: "mlflow", url: "http://localhost:99999" }] }, "trackers.0.url: is no URL"],
    [{ rollout: { promptsPerStep: 4097 } }, "rollout.promptsPerStep: must be at most 4096, is 4097"],
    [{ rollout: { samplesPerPrompt: 1025 } }, "rollout.samplesPerPrompt: must be at most 1024, is 1025"],
    [
      { rollout: { promptsPerStep: 4096, samplesPerPrompt: 17 } },
      "rollout.samplesPerPrompt: times promptsPerStep must be at most 65536: a step keeps all its samples in memory",
    ],
    [
      { rollout: { samplesPerPrompt: 1 } },
      "rollout.samplesPerPrompt: must be at least 2 for grpo: a group of one has no advantage; reinforce compares with the whole step",
    ],
    [{ rollout: { maxTokens: 131_073 } }, "rollout.maxTokens: must be at most 131072, is 131073"],
    [{ rollout: { temperature: 1e-38 } }, "rollout.temperature: must be at least 0.01, is 1e-38"],
    [{ adapter: { kind: "lora", rank: 2000 } }, "adapter.rank: must be at most 1024, is 2000"],
    [{ adapter: { kind: "lora", targets: [] } }, "adapter.targets: must have at least 1 items, is an array"],
    [{ trainer: { steps: 1e9 } }, "trainer.steps: must be at most 10000000, is 1000000000"],
    [{ trainer: { steps: 1, learningRate: 11 } }, "trainer.learningRate: must be at most 10, is 11"],
    [{ trainer: { steps: 1, beta1: 1 } }, "trainer.beta1: must be less than 1, is 1"],
    [{ trainer: { steps: 1, beta2: -1 } }, "trainer.beta2: must be at least 0, is -1"],
    [{ trainer: { steps: 1, epsilon: 0 } }, "trainer.epsilon: must be more than 0, is 0"],
    [{ trainer: { steps: 1, momentum: 0.9 } }, "trainer.momentum: is of sgd and muon; adamw has none"],
    [
      { trainer: { steps: 1, optimizer: "sgd", momentum: 0, nesterov: true } },
      "trainer.nesterov: looks ahead along the momentum, which is 0",
    ],
    [
      { trainer: { steps: 1, microBatchSize: 65_537 } },
      "trainer.microBatchSize: must be at most 65536, is 65537",
    ],
    [
      { kind: "sft", algorithm: { kind: "sft", batchSize: 65_537 } },
      "algorithm.batchSize: must be at most 65536, is 65537",
    ],
    [
      { rewards: { code: { sha256 }, timeoutMs: 2 ** 31 } },
      "rewards.timeoutMs: must be at most 3600000, is 2147483648",
    ],
    [{ name: "" }, "name: use 1 to 200 visible characters, without control characters"],
    [{ name: "   " }, "name: use 1 to 200 visible characters, without control characters"],
    [{ name: "a\u001b[2J" }, "name: use 1 to 200 visible characters, without control characters"],
    [{ name: "a\u202eb" }, "name: use 1 to 200 visible characters, without control characters"],
    [{ name: "a".repeat(201) }, "name: use 1 to 200 visible characters, without control characters"],
    [{ tags: ["a\nb"] }, "tags.0: use 1 to 200 visible characters, without control characters"],
  ])("%j is refused by name and bound", (changes, finding) => {
    expect(findingsOf(changes)).toEqual([finding]);
  });

  it.each(["echo \0", "echo \ud800", ""])("takes no command %j, which no shell can be given", (command) => {
    expect(findingsOf({ imageOverlay: ["echo '\n' \u{1f438}"] })).toEqual([]);
    expect(findingsOf({ imageOverlay: ["true", command] })).toEqual([
      expect.stringContaining("imageOverlay.1: "),
    ]);
  });

  it("can be renamed by the same rule, and an empty name removes it", () => {
    expect(updateRun.safeParse({ name: "", tags: ["a"] }).success).toBe(true);
    expect(updateRun.safeParse({ name: "new name" }).success).toBe(true);
    expect(updateRun.safeParse({ name: "a\u0000" }).success).toBe(false);
    expect(updateRun.safeParse({ tags: ["\t"] }).success).toBe(false);
  });
});
