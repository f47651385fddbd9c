import { createRequire } from "node:module";
import type { GrpoParams } from "./grpo-params.ts";
import type * as checks from "./recipe-checks.ts";
import type { SlimeSettings } from "./schema/engines/slime-settings.ts";
import type { rolloutSpec } from "./schema/rollout-spec.ts";
import type { RunSpecInput } from "./schema/run-spec.ts";
import type { TrainerParams } from "./trainer-params.ts";

/** How to train: what `recipes.grpo`, `recipes.ppo`, `recipes.sft` and `recipes.distill` make. Plain data, checked. */
export interface Recipe {
  readonly kind: "rl" | "sft" | "distill";
  readonly algorithm: RunSpecInput["algorithm"];
  readonly trainer: RunSpecInput["trainer"];
  readonly rollout?: RunSpecInput["rollout"];
  readonly evalEvery?: number | null;
  /** Default onnx, the embedded one. */
  readonly engine?: "onnx" | "slime";
  /** Settings of that engine by its own names. */
  readonly slime?: Record<string, unknown>;
}

export interface SftParams extends TrainerParams {
  /** Rows per step. Default 16. */
  batchSize?: number;
  /**
   * Of rows that are texts (`textColumn` of the dataset): a step's are put end to end and cut to so many tokens.
   * Default: 1024, or what the model takes if that is less.
   */
  contextTokens?: number;
  /**
   * Whose messages are learnt, in the whole conversation: `["assistant"]` learns every answer of it, calls of tools
   * included. Default: the completion alone.
   */
  learnRoles?: ("system" | "user" | "assistant" | "tool")[];
  /**
   * Let sequences of a step share rows of up to so many tokens, blind to each other. Less is padded where lengths
   * differ; what is learnt stays the same. Default: each has a row of its own, beside others of like length.
   */
  packTokens?: number;
}

/** Settings of `recipes.ppo`: those of grpo, but for 128 prompts a step and one answer to each by default. */
export type PpoParams = Omit<GrpoParams, "advantage">;

/** As `recipes.grpo` samples, with what a distillation learns. */
export interface DistillParams
  extends TrainerParams, Pick<GrpoParams, keyof typeof rolloutSpec.shape & keyof GrpoParams> {
  /**
   * Who writes the answers that are learnt. `student` (default): on-policy, the teacher grades each token of the
   * student's own answers. `teacher`: off-policy, the student learns the teacher's answers word for word.
   */
  answers?: "student" | "teacher";
  /** Weight of the teacher's grades. Default 1. */
  klCoef?: number;
  /** Bounds of the probability ratio, as in `recipes.grpo`. Default: ratios are taken as they are. */
  clipLow?: number;
  clipHigh?: number;
}

/**
 * Settings of slime, all by its own names in camelCase; `flags` takes the rest. These four say what every recipe says,
 * and have defaults of their own.
 */
export interface SlimeParams extends SlimeSettings {
  /** Steps. Default 1. */
  numRollout?: number;
  /** Prompts a step. Default 16. */
  rolloutBatchSize?: number;
  /** Answers to each. Default 8. */
  nSamplesPerPrompt?: number;
  /** Longest answer in tokens. Default 4096. */
  rolloutMaxResponseLen?: number;
}

/** Ways to train. Every option has a default but `steps`; an unknown one is an error. */
export const recipes = {
  /**
   * Reinforcement learning with group-relative advantages (arXiv:2402.03300): several answers to each
   * prompt, judged by the rewards, each learnt as much as it is better than its group. Options make DAPO, GSPO, Dr. GRPO,
   * RLOO, REINFORCE and others of it; docs/algorithms.md has them all.
   *
   * @example
   * recipes.grpo({ steps: 60, promptsPerStep: 16, samplesPerPrompt: 8, maxTokens: 40, saveEvery: 20 });
   */
  grpo(params: GrpoParams): Recipe {
    return checked().grpo(params);
  },

  /**
   * Proximal policy optimisation (arXiv:1707.06347): as `recipes.grpo`, with a critic that says token by token how much
   * better an answer was than expected (arXiv:1506.02438), so that one answer a prompt is enough.
   *
   * @example
   * recipes.ppo({ steps: 60, promptsPerStep: 128, critic: { learningRate: 1e-2 } });
   */
  ppo(params: PpoParams): Recipe {
    const withCritic = { samplesPerPrompt: 1, promptsPerStep: 128, ...params, advantage: "gae" as const };
    return recipes.grpo(withCritic);
  },

  /**
   * Supervised fine-tuning on the dataset's `outputColumn`, or on whole texts: its `textColumn` (mid-training).
   *
   * @example
   * recipes.sft({ steps: 200, batchSize: 32, learningRate: 1e-3, schedule: "cosine" });
   */
  sft(params: SftParams): Recipe {
    return checked().sft(params);
  },

  /**
   * GRPO and its kin on slime, with GPUs: engine settings as they are, see docs/engines.md. `numRollout` steps are
   * made, on top of those of a checkpoint that it starts from. What slime would not take is refused at launch.
   *
   * @example
   * recipes.slime({ numRollout: 10, rolloutNumGpus: 8, nSamplesPerPrompt: 8, saveInterval: 5, evalInterval: null });
   */
  slime(params: SlimeParams): Recipe {
    return {
      kind: "rl",
      engine: "slime",
      slime: { ...params },
      algorithm: { kind: "grpo" },
      trainer: { steps: params.numRollout ?? 1 },
      evalEvery: params.evalInterval ?? null,
    };
  },

  /**
   * Distillation: the student becomes like the `teacher` of the TrainConfig, which needs the student's tokenizer. No
   * rewards are needed; those that are given are measured and not learnt.
   *
   * @example
   * new TrainConfig({
   *   model: "Qwen/Qwen3-0.6B",
   *   teacher: "Qwen/Qwen3-4B",
   *   dataset,
   *   recipe: recipes.distill({ steps: 100, promptsPerStep: 16, samplesPerPrompt: 4 }),
   * });
   */
  distill(params: DistillParams): Recipe {
    return checked().distill(params);
  },
};

/** Loaded when the first recipe is made, and at once: what a recipe may say weighs as much as the client. */
function checked(): typeof checks {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return createRequire(import.meta.url)(`./recipe-checks.${ending}`) as typeof checks;
}
