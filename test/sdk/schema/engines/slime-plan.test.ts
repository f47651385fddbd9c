import { describe, expect, it } from "vitest";
import { optionName } from "../../../../sdk/schema/engines/option-list.ts";
import { SLIME_OPTIONS, slimeOptions, slimePlan } from "../../../../sdk/schema/engines/slime-plan.ts";
import { slimeSettings, type SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import { TUTORIAL } from "./golden-cases.ts";
import { planned, recipe, SHA, valueOf } from "./planned.ts";
import { unknownOptions } from "./unknown-options.ts";

describe("what slime is started with", () => {
  it("is the tutorial's own recipe, then twenty steps more", () => {
    const model = { name: "Qwen/Qwen3.5-4B" };
    const overlay = ["uv pip install --system aiohttp 'nltk>=3.8.0'"];
    const plan = slimePlan({ ...recipe(TUTORIAL, { model }), imageOverlay: overlay });
    expect(plan.overlay).toEqual(overlay);
    expect(plan.argv.slice(0, 4)).toEqual([
      ...["{{spotter.python}}", "-m", "spotter_slime.launch"],
      "{{spotter.engineDir}}/train.py",
    ]);
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
    const more = slimePlan(recipe({ ...TUTORIAL, numRollout: 20 }, { model }), 10);
    expect(valueOf(more.argv, "num-rollout")).toBe("30");
    expect(more.startedSteps).toBe(10);
    // More steps are another schedule, which Megatron would refuse to go on with.
    expect(valueOf(more.argv, "override-opt-param-scheduler")).toBe("");
    expect(told("override-opt-param-scheduler")).toBeUndefined();
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
    [
      "one step off the policy, which needs GPUs for both at a time",
      {},
      { asyncMode: true },
      { "num-rollout": "10", colocate: undefined, "actor-num-gpus-per-node": "4", "rollout-num-gpus": "4" },
    ],
    ["a share of its own", {}, { colocate: false, actorNumGpusPerNode: 6 }, { "rollout-num-gpus": "2" }],
    [
      "samples by the settings, and the batch that they make",
      {},
      { nSamplesPerPrompt: 4, rolloutBatchSize: 8 },
      { "global-batch-size": "32" },
    ],
    [
      "steps to a rollout instead",
      {},
      { flags: { "num-steps-per-rollout": 2 } },
      { "global-batch-size": undefined },
    ],
    [
      "the filter of groups that knows what no verdict is",
      {},
      {
        dynamicSamplingFilterPath:
          "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std",
      },
      { "dynamic-sampling-filter-path": "spotter_slime.check_reward_nonzero_std" },
    ],
    [
      "another filter as it is",
      {},
      { dynamicSamplingFilterPath: "mine.filter" },
      { "dynamic-sampling-filter-path": "mine.filter" },
    ],
    [
      "a distillation, whose grades the plug-in asks for",
      {
        kind: "distill",
        algorithm: { kind: "distill", klCoef: 0.5, clipHigh: 0.3 },
        teacher: { endpoint: "big" },
        rewards: undefined,
      },
      {},
      {
        "use-opd": "",
        "opd-kl-coef": "0.5",
        "custom-rm-path": "spotter_slime.reward",
        "eps-clip-high": "0.3",
      },
    ],
    [
      "shards alone, converted beside",
      {},
      { convertToHf: true, convertToMegatron: true },
      { "save-hf": undefined, "ref-load": "{{spotter.convertedDir}}" },
    ],
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
    expect(unknownOptions(SLIME_OPTIONS, argv.slice(2))).toEqual([]);
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
    // Ray is begun by the agent, which keeps it.
    expect(plan.before).toEqual([]);
    expect(valueOf(plan.argv, "actor-num-nodes")).toBe("2");
  });

  it("has TensorBoard write where the agent reads, when it is turned on and nobody says where", () => {
    const place = (slime: SlimeSettings, env = {}) =>
      slimePlan(planned({ env }, slime)).env["TENSORBOARD_DIR"];
    expect(place({})).toBeUndefined();
    expect(place({ useTensorboard: true })).toBe("{{spotter.metricsDir}}");
    expect(place({ flags: { "use-tensorboard": true } })).toBe("{{spotter.metricsDir}}");
    expect(place({ customConfig: { use_tensorboard: true } })).toBe("{{spotter.metricsDir}}");
    // The container has the run's own variables already.
    expect(place({ flags: { "use-tensorboard": true } }, { TENSORBOARD_DIR: "/data/tb" })).toBeUndefined();
  });

  it("says nothing of the job's token but where it is", () => {
    expect(JSON.stringify(slimePlan(planned()))).toContain("{{spotter.jobToken}}");
  });

  it("has a critic with folders of its own, unless the user says where", () => {
    const plan = slimePlan(planned({}, { advantageEstimator: "ppo" }));
    const { megatron } = JSON.parse(plan.files[0]?.content ?? "") as { megatron: object[] };
    expect(megatron).toMatchObject([
      {
        role: "critic",
        overrides: { load: "{{spotter.criticLoadDir}}", save: "{{spotter.saveDir}}/critic" },
      },
    ]);
    const flags = { "megatron-config-path": "/image/ppo.yaml" };
    const own = slimePlan(planned({}, { advantageEstimator: "ppo", flags }));
    expect([own.files, valueOf(own.argv, "megatron-config-path")]).toEqual([[], "/image/ppo.yaml"]);
  });

  it("types no setting that slime has not", () => {
    const ours = ["flags", "customConfig", "asyncMode", "convertToMegatron", "convertToHf"];
    const unknown = Object.keys(slimeSettings.shape).filter(
      (name) => !(optionName(name) in SLIME_OPTIONS.options),
    );
    expect(unknown.sort()).toEqual(ours.sort());
  });
});
