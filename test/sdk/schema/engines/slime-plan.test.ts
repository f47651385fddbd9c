import { describe, expect, it } from "vitest";
import { MODEL_PRESETS } from "../../../../sdk/schema/engines/presets.ts";
import { slimeFaults } from "../../../../sdk/schema/engines/slime-check.ts";
import { SLIME_OPTIONS, slimeOptions, slimePlan } from "../../../../sdk/schema/engines/slime-plan.ts";
import { slimeSettings, type SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import { runSpec, type RunSpecInput } from "../../../../sdk/schema/run-spec.ts";

const SHA = "0".repeat(64);

function planned(
  changes: Partial<RunSpecInput> = {},
  slime: SlimeSettings = {},
  hosts = { gpus: 8, nodes: 1 },
) {
  const spec = runSpec.parse({
    kind: "rl",
    model: { name: "Qwen/Qwen3-4B" },
    dataset: { sha256: SHA, rows: 10 },
    rewards: { code: { sha256: SHA } },
    algorithm: { kind: "grpo" },
    trainer: { steps: 10 },
    ...changes,
  });
  return { ...spec, slime: slimeSettings.parse(slime), ...hosts };
}

const faults = (...given: Parameters<typeof planned>) =>
  slimeFaults(planned(...given)).map(({ where, message, hint = "" }) => `${where}: ${message} ${hint}`);

/** The words after an option until the next one. */
function valueOf(argv: readonly string[], option: string): string | undefined {
  const at = argv.lastIndexOf(`--${option}`);
  if (at < 0) return undefined;
  const end = argv.findIndex((word, index) => index > at && word.startsWith("--"));
  return argv.slice(at + 1, end < 0 ? undefined : end).join(" ");
}

/** The recipe of the tutorial: eight GPUs for rollouts, ten of them, eight samples, saved every five. */
const TUTORIAL: SlimeSettings = {
  evalInterval: null,
  rolloutNumGpus: 8,
  numRollout: 10,
  nSamplesPerPrompt: 8,
  rolloutBatchSize: 16,
  globalBatchSize: 128,
  saveInterval: 5,
  applyChatTemplateKwargs: '{"enable_thinking": false}',
};

describe("what slime is started with", () => {
  it("is the tutorial's own recipe, then twenty steps more", () => {
    const model = { name: "Qwen/Qwen3.5-4B" };
    const overlay = ["uv pip install --system aiohttp 'nltk>=3.8.0'"];
    const plan = slimePlan({ ...planned({ model }, TUTORIAL), imageOverlay: overlay });
    expect(plan.overlay).toEqual(overlay);
    expect(plan.argv.slice(0, 2)).toEqual(["{{spotter.python}}", "{{spotter.engineDir}}/train.py"]);
    const told = (option: string) => valueOf(plan.argv, option);
    expect(told("num-rollout")).toBe("10");
    expect(told("rollout-num-gpus")).toBe("8");
    expect(told("n-samples-per-prompt")).toBe("8");
    expect(told("save-interval")).toBe("5");
    expect(told("apply-chat-template-kwargs")).toBe('{"enable_thinking": false}');
    expect(told("custom-rm-path")).toBe("spotter_slime.reward");
    expect(told("eval-interval")).toBeUndefined();
    // The architecture, as slime's own script for this model has it.
    expect(told("num-layers")).toBe("32");
    expect(told("spec")).toBe("slime_plugins.models.qwen3_5 get_qwen3_5_spec");
    const more = slimePlan(planned({ model }, { ...TUTORIAL, numRollout: 20 }), 10);
    expect(valueOf(more.argv, "num-rollout")).toBe("30");
    expect(more.startedSteps).toBe(10);
  });

  it.each<[string, Partial<RunSpecInput>, SlimeSettings, Record<string, string | undefined>]>([
    [
      "a run in engine-neutral words",
      { rollout: { promptsPerStep: 4, samplesPerPrompt: 8, maxTokens: 100, topK: 5 }, seed: 3 },
      {},
      {
        "rollout-batch-size": "4",
        "global-batch-size": "32",
        "rollout-max-response-len": "100",
        "rollout-top-k": "5",
        colocate: "",
        "rollout-seed": "3",
        seed: "4",
        load: "{{spotter.saveDir}}",
      },
    ],
    [
      "GSPO",
      { algorithm: { kind: "grpo", clipLow: 3e-4, clipHigh: 4e-4 } },
      { advantageEstimator: "gspo" },
      { "advantage-estimator": "gspo", "eps-clip": "0.0003", "eps-clip-high": "0.0004" },
    ],
    [
      "PPO with a critic",
      {},
      { advantageEstimator: "ppo", lambd: 0.95, gamma: 1, numCriticOnlySteps: 2 },
      { "advantage-estimator": "ppo", lambd: "0.95", "num-critic-only-steps": "2" },
    ],
    [
      "DAPO: clip-higher, loss per token, groups that differ, more samples than are used",
      { algorithm: { kind: "grpo", clipHigh: 0.28 } },
      {
        calculatePerTokenLoss: true,
        overSamplingBatchSize: 32,
        dynamicSamplingFilterPath:
          "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std",
      },
      { "calculate-per-token-loss": "", "over-sampling-batch-size": "32", "eps-clip-high": "0.28" },
    ],
    [
      "a divergence from the reference, and Dr. GRPO's normalisation",
      { algorithm: { kind: "grpo", klCoef: 0.01, normalizeStd: false } },
      {},
      { "use-kl-loss": "", "kl-loss-coef": "0.01", "disable-grpo-std-normalization": "" },
    ],
    [
      "disaggregated",
      {},
      { colocate: false, rolloutNumGpus: 4, actorNumGpusPerNode: 4 },
      { colocate: undefined, "rollout-num-gpus": "4", "actor-num-gpus-per-node": "4" },
    ],
    ["one step off the policy", {}, { asyncMode: true }, { "num-rollout": "10" }],
    [
      "a switch that is off, a list, and an option that nobody typed",
      {},
      {
        offloadTrain: false,
        freezeParamsNameList: ["embedding", "head"],
        flags: { "sglang-log-level": "warning" },
      },
      { "no-offload-train": "", "freeze-params-name-list": "embedding head", "sglang-log-level": "warning" },
    ],
    [
      "supervised",
      { kind: "sft", algorithm: { kind: "sft", batchSize: 64 }, rewards: undefined },
      {},
      {
        "loss-type": "sft_loss",
        "input-key": "messages",
        "rollout-batch-size": "64",
        "custom-rm-path": undefined,
        colocate: undefined,
      },
    ],
    [
      "conversations with tools",
      { tools: { code: { sha256: SHA } }, rollout: { maxTurns: 4 } },
      {},
      { "custom-generate-function-path": "spotter_slime.generate", "tool-key": "tools" },
    ],
    [
      "an evaluation",
      { evalDataset: { sha256: SHA, rows: 3 }, evalEvery: 5 },
      {},
      { "eval-interval": "5", "eval-prompt-data": "eval {{spotter.slimeEvalDataset}}" },
    ],
  ])("says %s", (_what, changes, settings, expected) => {
    const { argv } = slimePlan(planned(changes, settings));
    const told = Object.fromEntries(Object.keys(expected).map((option) => [option, valueOf(argv, option)]));
    expect(told).toEqual(expected);
    // Whatever is said, slime knows it.
    for (const word of argv.filter((each) => each.startsWith("--")))
      expect([...Object.keys(SLIME_OPTIONS.options), ...switches()]).toContain(word.slice(2));
  });

  it("prefers the user to the preset, the preset to the default, by what was given and not by its value", () => {
    const model = { name: "Qwen/Qwen3-8B" };
    expect(slimeOptions(planned({ model }))).toMatchObject({ "tensor-model-parallel-size": 2 });
    // As the default has it, and still the user's.
    const own = slimeOptions(planned({ model }, { tensorModelParallelSize: 1, maxTokensPerGpu: 9_216 }));
    expect(own).toMatchObject({ "tensor-model-parallel-size": 1, "max-tokens-per-gpu": 9_216 });
  });

  it("writes documents to files, and counts on every host", () => {
    const plan = slimePlan(
      planned({}, { customConfig: { a: [1] }, evalConfig: { datasets: [] } }, { gpus: 8, nodes: 2 }),
    );
    expect(plan.files.map(({ path }) => path)).toEqual([
      "config/custom-config-path.yaml",
      "config/eval-config.yaml",
    ]);
    expect(JSON.parse(plan.files[0]?.content ?? "")).toEqual({ a: [1] });
    expect(valueOf(plan.argv, "custom-config-path")).toBe(
      "{{spotter.workDir}}/config/custom-config-path.yaml",
    );
    expect(
      faults({ hardware: { gpu: "H100", count: 8, nodes: 2 } }, {}, { gpus: 8, nodes: 3 }).filter((each) =>
        each.startsWith("slime.actorNumNodes: is 3, and the hardware is 2"),
      ),
    ).toHaveLength(1);
    // Ray is begun by the agent, which keeps it.
    expect(plan.before).toEqual([]);
    expect(valueOf(plan.argv, "actor-num-nodes")).toBe("2");
  });

  it("says nothing of the job's token but where it is", () => {
    expect(JSON.stringify(slimePlan(planned()))).toContain("{{spotter.jobToken}}");
  });
});

function switches(): string[] {
  return Object.entries(SLIME_OPTIONS.options)
    .filter(([, { kind }]) => kind === "switch")
    .map(([name]) => `no-${name}`);
}

describe("what cannot run on slime is refused before launch", () => {
  it.each<[string, Partial<RunSpecInput>, SlimeSettings, RegExp]>([
    [
      "an unknown option",
      {},
      { flags: { "num-rollouts": 3 } },
      /flags.num-rollouts: .* Did you mean num-rollout\?/,
    ],
    [
      "a value that an option cannot have",
      {},
      { flags: { "opd-type": "vllm" } },
      /must be one of sglang, megatron/,
    ],
    ["a flag with a value", {}, { flags: { colocate: 3 } }, /is on or off/],
    ["LoRA", { adapter: { kind: "lora" } }, {}, /adapter: is LoRA/],
    [
      "a model without a known shape",
      { model: { name: "Qwen/Qwen3-4b-x" } },
      {},
      /Did you mean Qwen\/Qwen3-4B\?/,
    ],
    ["GPUs that do not divide", {}, { tensorModelParallelSize: 3 }, /is 3, which 8 GPUs .* 2 divides them/],
    [
      "engines that do not divide",
      {},
      { rolloutNumGpus: 5, rolloutNumGpusPerEngine: 2 },
      /is 5, no multiple of the 2 .* 4 is one/,
    ],
    ["batches that do not divide", {}, { globalBatchSize: 100 }, /128 samples of a rollout are no multiple/],
    [
      "what does not fit",
      { model: { name: "Qwen/Qwen3-32B" }, hardware: { gpu: "L4", count: 8 } },
      {},
      /hardware: needs about \d+ GiB on each L4, which has 22.* 16 GPUs|64 GPUs|32 GPUs|smaller model/,
    ],
  ])("%s", (_what, changes, settings, expected) => {
    expect(faults(changes, settings).join("\n")).toMatch(expected);
  });

  it("names everything at once, and lets what runs pass", () => {
    expect(faults({ adapter: { kind: "lora" } }, { globalBatchSize: 100, flags: { nope: 1 } })).toHaveLength(
      3,
    );
    for (const { names, train } of MODEL_PRESETS) {
      const hardware = { gpu: train.gpu, count: train.count };
      expect(
        faults({ model: { name: names[0] ?? "" }, hardware }, {}, { gpus: train.count, nodes: 1 }),
      ).toEqual([]);
    }
  });
});
