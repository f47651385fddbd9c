import { slimePlan } from "../../../../sdk/schema/engines/slime-plan.ts";
import type { SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import { vllmPlan, type VllmParams } from "../../../../sdk/schema/engines/vllm-plan.ts";
import type { NativePlan } from "../../../../sdk/schema/native-plan.ts";
import { planned, recipe, SHA } from "./planned.ts";

const model = (name: string) => ({ name: `Qwen/${name}` });
const EVAL = { evalDataset: { sha256: SHA, rows: 3 }, evalEvery: 5 };
const RULE = "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std";

/** The recipe of the tutorial: eight GPUs for rollouts, ten of them, eight samples, saved every five. */
export const TUTORIAL: SlimeSettings = {
  evalInterval: null,
  rolloutNumGpus: 8,
  numRollout: 10,
  nSamplesPerPrompt: 8,
  saveInterval: 5,
  applyChatTemplateKwargs: '{"enable_thinking": false}',
};

const serve = (name: string, more: Partial<VllmParams> = {}): NativePlan =>
  vllmPlan({ endpoint: "chat", model: { name }, ...more });
const H100 = (count: number) => ({ gpu: "H100" as const, count, spot: false });

/** Run specs and endpoints by the name of the file that has what their engine is started with. */
export const CASES: Readonly<Record<string, () => NativePlan>> = {
  // Algorithms
  "grpo-qwen3-4b": () => slimePlan(planned()),
  "grpo-with-reference": () =>
    slimePlan(planned({ algorithm: { kind: "grpo", klCoef: 0.01, normalizeStd: false } })),
  gspo: () =>
    slimePlan(recipe({ advantageEstimator: "gspo", epsClip: 3e-4, epsClipHigh: 4e-4, numRollout: 10 })),
  "ppo-with-critic": () =>
    slimePlan(
      recipe({ advantageEstimator: "ppo", gamma: 1, lambd: 0.95, numCriticOnlySteps: 2, numRollout: 10 }),
    ),
  "ppo-own-critic-config": () =>
    slimePlan(recipe({ advantageEstimator: "ppo", flags: { "megatron-config-path": "/image/ppo.yaml" } })),
  dapo: () =>
    slimePlan(
      recipe({
        numRollout: 10,
        epsClipHigh: 0.28,
        calculatePerTokenLoss: true,
        overSamplingBatchSize: 32,
        dynamicSamplingFilterPath: RULE,
      }),
    ),
  "reinforce-plus-plus": () =>
    slimePlan(
      recipe({ advantageEstimator: "reinforce_plus_plus", normalizeAdvantages: true, klCoef: 0.001 }),
    ),
  "truncated-importance-sampling": () => slimePlan(recipe({ useTis: true, tisClip: 2, tisClipLow: 0 })),
  "distill-on-policy": () =>
    slimePlan(
      planned({
        kind: "distill",
        algorithm: { kind: "distill", klCoef: 0.5 },
        teacher: { endpoint: "big" },
        rewards: undefined,
      }),
    ),
  sft: () =>
    slimePlan(planned({ kind: "sft", algorithm: { kind: "sft", batchSize: 64 }, rewards: undefined })),
  // Data, conversations, evaluation
  "tools-and-evaluation": () =>
    slimePlan(
      planned({ ...EVAL, tools: { code: { sha256: SHA } }, rollout: { maxTurns: 4, contextTokens: 8_192 } }),
    ),
  "python-rewards-and-tools": () =>
    slimePlan(
      planned({
        rewards: undefined,
        python: { code: { sha256: SHA }, rewards: { file: "rewards.py" }, tools: { file: "tools.py" } },
      }),
    ),
  "documents-and-hooks": () =>
    slimePlan(
      recipe({
        customConfig: { my_reward_scale: 2 },
        evalConfig: { eval: { datasets: [{ name: "aime", path: "/data/aime.jsonl" }] } },
        sglangConfig: { sglang: [{ name: "actor" }] },
        customRolloutLogFunctionPath: "mine.log",
        rolloutStop: ["</answer>", "\n\n"],
      }),
    ),
  "tutorial-ten-steps": () =>
    slimePlan({
      ...recipe(TUTORIAL, { model: model("Qwen3.5-4B") }),
      imageOverlay: [
        "apt-get update && apt-get install -y git",
        "uv pip install --system aiohttp 'nltk>=3.8.0'",
      ],
    }),
  "tutorial-twenty-steps-more": () =>
    slimePlan(
      recipe(
        { ...TUTORIAL, numRollout: 20 },
        { model: model("Qwen3.5-4B"), startFrom: { checkpoint: "first@10", mode: "continue" } },
      ),
      10,
    ),
  // Shapes
  "qwen3-0.6b-one-gpu": () => slimePlan(planned({ model: model("Qwen3-0.6B") }, {}, { gpus: 1, nodes: 1 })),
  "qwen3-14b": () => slimePlan(planned({ model: model("Qwen3-14B") })),
  "qwen3-32b-converted": () =>
    slimePlan(planned({ model: model("Qwen3-32B") }, { convertToMegatron: true, convertToHf: true })),
  "qwen3-30b-a3b-experts": () => slimePlan(planned({ model: model("Qwen3-30B-A3B") })),
  disaggregated: () => slimePlan(planned({}, { colocate: false })),
  "disaggregated-own-shares": () =>
    slimePlan(
      planned({}, { colocate: false, actorNumGpusPerNode: 2, rolloutNumGpus: 6, rolloutNumGpusPerEngine: 2 }),
    ),
  "one-step-off-policy": () => slimePlan(planned({}, { asyncMode: true })),
  "four-hosts": () =>
    slimePlan(
      planned({ model: model("Qwen3-32B") }, { pipelineModelParallelSize: 2 }, { gpus: 8, nodes: 4 }),
    ),
  "weights-of-a-checkpoint": () =>
    slimePlan(planned({ startFrom: { checkpoint: "first@10", mode: "weights" } }, { noSaveOptim: true })),
  // Serving
  "serve-qwen3-4b": () => serve("Qwen/Qwen3-4B", { hardware: H100(1) }),
  "serve-qwen3-32b-four-gpus": () => serve("Qwen/Qwen3-32B", { hardware: H100(4) }),
  "serve-unknown-model": () => serve("acme/novel"),
  "serve-full-checkpoint": () => serve("Qwen/Qwen3.5-4B", { checkpoint: "full" }),
  "serve-lora-checkpoint": () => serve("Qwen/Qwen3-8B", { checkpoint: "lora" }),
  "serve-own-settings": () =>
    serve("Qwen/Qwen3-Coder-30B-A3B-Instruct", {
      vllm: { maxModelLen: 4_096, enableLora: false, enforceEager: true, flags: { "max-logprobs": 50 } },
    }),
};
