import type { RunSpec } from "../run-spec.ts";
import type { OptionValue } from "./option-list.ts";
import type { SlimeSettings } from "./slime-settings.ts";

export type Options = Record<string, OptionValue>;

/** What of a run's spec slime is told, and the hosts it gets. */
export type PlannedSpec = Pick<
  RunSpec,
  | "kind"
  | "model"
  | "rollout"
  | "algorithm"
  | "trainer"
  | "evalDataset"
  | "evalEvery"
  | "seed"
  | "rewards"
  | "tools"
  | "python"
  | "startFrom"
  | "env"
> & { slime?: SlimeSettings; imageOverlay?: readonly string[]; gpus: number; nodes: number };

/** Whether answers are sampled on other GPUs than those that learn: `train_async.py` does both at a time. */
export function isApart({ kind, slime = {} }: Pick<PlannedSpec, "kind" | "slime">): boolean {
  return (
    kind !== "sft" && (slime.colocate === false || (slime.asyncMode === true && slime.colocate !== true))
  );
}

/** The run's own words in slime's. */
export function neutral(spec: PlannedSpec, startedSteps: number): Options {
  const { trainer, rollout, kind, evalEvery, seed } = spec;
  return {
    ...hosts(spec),
    "num-rollout": startedSteps + trainer.steps,
    "save-interval": trainer.saveEvery ?? trainer.steps,
    ...(evalEvery === null ? {} : { "eval-interval": evalEvery }),
    "rollout-seed": seed,
    // Megatron takes none below 1.
    seed: seed + 1,
    lr: trainer.learningRate,
    "lr-decay-style": trainer.schedule,
    ...(trainer.warmupSteps > 0 ? { "lr-warmup-iters": trainer.warmupSteps } : {}),
    "weight-decay": trainer.weightDecay,
    "adam-beta1": trainer.beta1,
    "adam-beta2": trainer.beta2,
    "adam-eps": trainer.epsilon,
    "clip-grad": trainer.maxGradNorm,
    ...(kind === "sft" ? sftOptions(spec) : rolloutOptions(rollout)),
    ...algorithmOptions(spec),
  };
}

/** How the GPUs are shared out: all for both in turn, or half for each where both work at a time. */
function hosts(spec: PlannedSpec): Options {
  const { kind, gpus, nodes, slime = {} } = spec;
  const apart = isApart(spec);
  const learning = slime.actorNumGpusPerNode ?? (apart ? Math.max(1, Math.floor(gpus / 2)) : gpus);
  const sampling = apart ? Math.max(1, (gpus - learning) * nodes) : gpus * nodes;
  return {
    "actor-num-nodes": nodes,
    "actor-num-gpus-per-node": learning,
    ...(gpus < 8 ? { "num-gpus-per-node": gpus } : {}),
    ...(kind === "sft"
      ? {}
      : { colocate: !apart, "rollout-num-gpus": sampling, "rollout-num-gpus-per-engine": 1 }),
  };
}

function rolloutOptions(rollout: PlannedSpec["rollout"]): Options {
  const kwargs = rollout.chatTemplateKwargs;
  return {
    "rollout-batch-size": rollout.promptsPerStep,
    "n-samples-per-prompt": rollout.samplesPerPrompt,
    "global-batch-size": rollout.promptsPerStep * rollout.samplesPerPrompt,
    "rollout-max-response-len": rollout.maxTokens,
    "rollout-temperature": rollout.temperature,
    "rollout-top-p": rollout.topP,
    ...(rollout.topK > 0 ? { "rollout-top-k": rollout.topK } : {}),
    ...(rollout.contextTokens === undefined ? {} : { "rollout-max-context-len": rollout.contextTokens }),
    "apply-chat-template": true,
    ...(Object.keys(kwargs).length > 0 ? { "apply-chat-template-kwargs": JSON.stringify(kwargs) } : {}),
    "rollout-shuffle": true,
  };
}

function sftOptions({ algorithm }: PlannedSpec): Options {
  const batch = algorithm.kind === "sft" ? algorithm.batchSize : 16;
  return {
    "rollout-function-path": "slime.rollout.sft_rollout.generate_rollout",
    "input-key": "messages",
    "rollout-batch-size": batch,
    "global-batch-size": batch,
    "loss-type": "sft_loss",
    "calculate-per-token-loss": true,
    "disable-compute-advantages-and-returns": true,
    "debug-train-only": true,
    "rollout-shuffle": true,
  };
}

function algorithmOptions({ algorithm }: PlannedSpec): Options {
  if (algorithm.kind === "sft") return {};
  if (algorithm.kind === "distill") {
    const { klCoef, clipLow, clipHigh } = algorithm;
    return {
      "use-opd": true,
      // The teacher's grades come with the answers: the plug-in asks for them.
      "opd-type": "sglang",
      "opd-kl-coef": klCoef,
      "advantage-estimator": "grpo",
      ...(clipLow === undefined ? {} : { "eps-clip": clipLow }),
      ...(clipHigh === undefined ? {} : { "eps-clip-high": clipHigh }),
    };
  }
  const kl = algorithm.klCoef;
  return {
    "advantage-estimator": "grpo",
    "eps-clip": algorithm.clipLow,
    "eps-clip-high": algorithm.clipHigh,
    ...(kl > 0 ? { "use-kl-loss": true, "kl-loss-coef": kl, "kl-loss-type": "low_var_kl" } : {}),
    // Its own default is the mean of the answers' means.
    ...(algorithm.normalizer === "token" ? { "calculate-per-token-loss": true } : {}),
    ...(algorithm.normalizeStd ? {} : { "disable-grpo-std-normalization": true }),
  };
}
