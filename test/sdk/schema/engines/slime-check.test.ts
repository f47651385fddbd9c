import { describe, expect, it } from "vitest";
import { MODEL_PRESETS } from "../../../../sdk/schema/engines/presets.ts";
import { slimeFaults } from "../../../../sdk/schema/engines/slime-check.ts";
import type { SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import { planned } from "./planned.ts";

const faults = (...given: Parameters<typeof planned>) =>
  slimeFaults(planned(...given)).map(({ where, message, hint = "" }) => `${where}: ${message} ${hint}`);

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
    [
      "GPUs that do not divide",
      {},
      { tensorModelParallelSize: 3 },
      /is 3, which 8 GPUs .* tensorModelParallelSize: 4 fits/,
    ],
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

  it("asks for the hosts that it counts on", () => {
    const hosts = { gpus: 8, nodes: 3 };
    expect(faults({ hardware: { gpu: "H100", count: 8, nodes: 2 } }, {}, hosts)).toEqual([
      "slime.actorNumNodes: is 3, and the hardware is 2 of them Ask for hardware: { nodes: 3 }.",
    ]);
    expect(faults({ hardware: { gpu: "H100", count: 8, nodes: 3 } }, {}, hosts)).toEqual([]);
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

describe("settings that contradict each other are refused before launch", () => {
  const teacher = { "use-opd": true, "opd-type": "megatron" };
  it.each<[string, SlimeSettings, RegExp, SlimeSettings?]>([
    [
      "both in turn and at a time",
      { asyncMode: true, colocate: true },
      /slime.colocate: .*asyncMode/,
      { asyncMode: true },
    ],
    [
      "two divergences",
      { klCoef: 0.1, klLossCoef: 0.1, useKlLoss: true },
      /slime.klCoef: .*klLossCoef/,
      { klCoef: 0.1 },
    ],
    [
      "an estimator without its normalisation",
      { advantageEstimator: "reinforce_plus_plus" },
      /normalizeAdvantages: true/,
      { advantageEstimator: "reinforce_plus_plus", normalizeAdvantages: true },
    ],
    [
      "two importance ratios",
      { useTis: true, flags: { "use-rollout-logprobs": true } },
      /slime.useTis/,
      { useTis: true },
    ],
    [
      "fewer samples than are used",
      { overSamplingBatchSize: 4 },
      /slime.overSamplingBatchSize/,
      { overSamplingBatchSize: 16 },
    ],
    [
      "an evaluation of nothing",
      { evalInterval: 2 },
      /slime.evalInterval: .*evalDataset/,
      { evalInterval: 2, evalConfig: {} },
    ],
    [
      "deltas between the same GPUs",
      { updateWeightMode: "delta" },
      /slime.updateWeightMode: .*colocate: false/,
    ],
    [
      "deltas over the network",
      { updateWeightMode: "delta", colocate: false },
      /updateWeightTransport: .*"disk"/,
    ],
    [
      "a disk without a folder",
      { updateWeightTransport: "disk" },
      /update-weight-disk-dir/,
      { updateWeightTransport: "disk", flags: { "update-weight-disk-dir": "/shared" } },
    ],
    [
      "a teacher without weights",
      { flags: teacher },
      /opd-teacher-load/,
      { flags: { ...teacher, "opd-teacher-load": "/t" } },
    ],
    ["a distillation of no kind", { flags: { "use-opd": true } }, /slime.flags.use-opd/],
    [
      "a prompt that leaves no room",
      { rolloutMaxPromptLen: 100, rolloutMaxContextLen: 100 },
      /slime.rolloutMaxPromptLen/,
      { rolloutMaxPromptLen: 99, rolloutMaxContextLen: 100 },
    ],
    ["what is no JSON", { applyChatTemplateKwargs: "{enable_thinking: 0}" }, /slime.applyChatTemplateKwargs/],
    [
      "JSON that is no object",
      { applyChatTemplateKwargs: "[1]" },
      /is no JSON object/,
      { applyChatTemplateKwargs: { enable_thinking: false } },
    ],
    ["a name that every object has", { flags: { constructor: 1 } }, /flags.constructor: .* is no option/],
    [
      "the same twice",
      { colocate: true, flags: { colocate: false } },
      /flags.colocate: is given as slime.colocate too/,
    ],
    [
      "the same in two spellings",
      { flags: { "clip-grad": 1, clip_grad: 2 } },
      /flags.clip_grad: .*clip-grad/,
    ],
    [
      "a value that an option cannot have",
      { advantageEstimator: "grpoo" },
      /slime.advantageEstimator must be one of grpo/,
    ],
    [
      "steps that are counted twice",
      { numRollout: 7 },
      /slime.numRollout: is 7, and the run has 10 steps/,
      { numRollout: 10 },
    ],
    [
      "what Spotter reads back",
      { flags: { save: "/elsewhere" } },
      /flags.save: is set by Spotter Leave it out/,
    ],
    [
      "the count of steps",
      { flags: { "num-rollout": 3 } },
      /flags.num-rollout: is set by Spotter Give numRollout/,
    ],
    [
      "the same in a document that wins over all",
      { customConfig: { num_rollout: 3 } },
      /customConfig.num_rollout: is set by/,
    ],
    ["what argparse reads as an option", { flags: { "wandb-group": "--load=/x" } }, /begins with a dash/],
    ["no number of Python's", { flags: { "micro-batch-size": "1e3" } }, /must be a whole number/],
    [
      "a number that JavaScript writes otherwise",
      { flags: { "micro-batch-size": 1e21 } },
      /must be a whole number/,
    ],
    ["an empty number", { flags: { "eps-clip": "" } }, /must be a number/],
    ["a character that ends a text", { rmType: "a\0b" }, /no command line can hold/],
  ])("%s", (_what, settings, expected, fine) => {
    const told = faults({}, settings)
      .join("\n")
      .replaceAll(/: (\w+) must/g, " must");
    expect(told).toMatch(expected);
    if (fine !== undefined) expect(faults({}, fine)).toEqual([]);
  });

  it("and what only looks odd passes", () => {
    const odd = {
      rolloutStop: ["-", "- Ende", "終わり", "🏁"],
      rmType: "größe",
      flags: { "wandb-group": "a b" },
    };
    expect(faults({}, odd)).toEqual([]);
  });
});
