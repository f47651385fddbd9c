import type { NativePlan } from "../native-plan.ts";
import type { RunSpec } from "../run-spec.ts";
import models from "./options/megatron-models.json" with { type: "json" };
import published from "./options/slime.json" with { type: "json" };
import { optionName, toArgv, type OptionList, type OptionValue } from "./option-list.ts";
import { presetOf } from "./presets.ts";
import type { SlimeSettings } from "./slime-settings.ts";

export const SLIME_OPTIONS: OptionList = published;

type Options = Record<string, OptionValue>;
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
> & { slime?: SlimeSettings; imageOverlay?: readonly string[]; gpus: number; nodes: number };

/** Settings that are no option of the command line by themselves. */
const NOT_OPTIONS = new Set([
  "flags",
  "customConfig",
  "evalConfig",
  "sglangConfig",
  "asyncMode",
  "evalInterval",
]);
const SLIME_DIR = "{{spotter.engineDir}}";

/** The words of Megatron that describe a model; undefined for one that slime has no script for. */
export function architectureOf(model: string): readonly string[] | undefined {
  return models.models.find(({ names }) => names.some((name) => name.toLowerCase() === model.toLowerCase()))
    ?.argv;
}

/**
 * What slime is started with for a run: user settings win over the model's preset, which wins over what the run says
 * in engine-neutral words, which wins over what every training on slime needs.
 *
 * @param startedSteps - Steps that earlier runs made, which this one continues: slime counts on from there.
 */
export function slimePlan(spec: PlannedSpec, startedSteps = 0): NativePlan {
  const settings = spec.slime ?? {};
  const files: NativePlan["files"] = [];
  const script = settings.asyncMode === true ? "train_async.py" : "train.py";
  const architecture = architectureOf(spec.model.name) ?? [];
  const argv = [...architecture, ...toArgv(SLIME_OPTIONS, slimeOptions(spec, startedSteps, files))];
  return {
    engine: "slime",
    files,
    env: {
      PYTHONPATH: `{{spotter.agentDir}}:${SLIME_DIR}:/root/Megatron-LM`,
      CUDA_DEVICE_MAX_CONNECTIONS: "1",
      PYTHONUNBUFFERED: "1",
      // For the plug-in: it asks for verdicts and tools with the token of the job.
      SPOTTER_JOB_TOKEN: "{{spotter.jobToken}}",
      SPOTTER_ATTEMPT: "{{spotter.attempt}}",
      SPOTTER_SLIME_SETUP: "{{spotter.slimeSetup}}",
    },
    overlay: [...(spec.imageOverlay ?? [])],
    before: [],
    argv: ["{{spotter.python}}", `${SLIME_DIR}/${script}`, ...argv],
    startedSteps,
  };
}

/** Every option, by its own name. Documents are added to `files`. */
export function slimeOptions(
  spec: PlannedSpec,
  startedSteps = 0,
  files: NativePlan["files"] = [],
): Record<string, OptionValue> {
  const settings = spec.slime ?? {};
  const document = (option: string, content: Record<string, unknown> | undefined): Options => {
    if (content === undefined) return {};
    const path = `config/${option}.yaml`;
    // JSON is YAML, which is what slime reads.
    files.push({ path, content: `${JSON.stringify(content, null, 2)}\n` });
    return { [option]: `{{spotter.workDir}}/${path}` };
  };
  const options: Options = {
    ...ALWAYS,
    ...placesOf(spec),
    ...neutral(spec, startedSteps),
    ...own(presetOf(spec.model.name)?.train.settings ?? {}),
    ...own(settings),
    ...(settings.numRollout === undefined ? {} : { "num-rollout": startedSteps + settings.numRollout }),
    ...document("custom-config-path", settings.customConfig),
    ...document("eval-config", settings.evalConfig),
    ...document("sglang-config", settings.sglangConfig),
    ...own(settings.flags ?? {}),
  };
  if (settings.evalInterval === null) delete options["eval-interval"];
  return options;
}

const ALWAYS: Options = {
  "attention-dropout": 0,
  "hidden-dropout": 0,
  "accumulate-allreduce-grads-in-fp32": true,
  "attention-softmax-in-fp32": true,
  "attention-backend": "flash",
  "recompute-granularity": "full",
  "recompute-method": "uniform",
  "recompute-num-layers": 1,
  "use-dynamic-batch-size": true,
  "max-tokens-per-gpu": 9_216,
  "balance-data": true,
  "use-fault-tolerance": true,
  optimizer: "adam",
};

function placesOf(spec: PlannedSpec): Options {
  const { evalDataset, rollout, kind, python } = spec;
  const rewards = spec.rewards ?? python?.rewards;
  const tools = spec.tools ?? python?.tools;
  const hasTurns = kind !== "sft" && (tools !== undefined || rollout.maxTurns > 1);
  return {
    "hf-checkpoint": "{{spotter.modelDir}}",
    "ref-load": "{{spotter.modelDir}}",
    load: "{{spotter.saveDir}}",
    save: "{{spotter.saveDir}}",
    "save-hf": "{{spotter.saveDir}}/hf/{rollout_id}",
    "prompt-data": "{{spotter.slimeDataset}}",
    "input-key": "prompt",
    "metadata-key": "metadata",
    ...(tools === undefined ? {} : { "tool-key": "tools" }),
    ...(evalDataset === undefined ? {} : { "eval-prompt-data": ["eval", "{{spotter.slimeEvalDataset}}"] }),
    ...(rewards === undefined || kind === "sft"
      ? {}
      : {
          "custom-rm-path": "spotter_slime.reward",
          "custom-reward-post-process-path": "spotter_slime.post_process",
        }),
    ...(hasTurns ? { "custom-generate-function-path": "spotter_slime.generate" } : {}),
  };
}

/** The run's own words in slime's. */
function neutral(spec: PlannedSpec, startedSteps: number): Options {
  const { trainer, rollout, kind, evalEvery, seed, gpus, nodes } = spec;
  const nodesAndGpus: Options =
    kind === "sft"
      ? {}
      : { colocate: true, "rollout-num-gpus": gpus * nodes, "rollout-num-gpus-per-engine": 1 };
  return {
    "actor-num-nodes": nodes,
    "actor-num-gpus-per-node": gpus,
    ...(gpus < 8 ? { "num-gpus-per-node": gpus } : {}),
    ...nodesAndGpus,
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
  const kl = algorithm.klCoef;
  if (algorithm.kind === "distill")
    return { "use-opd": true, "opd-type": "sglang", "opd-kl-coef": kl, "advantage-estimator": "grpo" };
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

/** Settings by slime's own names; documents and what is no option are left to the caller. */
function own(settings: Readonly<Record<string, unknown>>): Options {
  const options: Options = {};
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null || NOT_OPTIONS.has(name)) continue;
    const text = typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : value;
    options[optionName(name)] = text as OptionValue;
  }
  const { evalInterval } = settings;
  return typeof evalInterval === "number" ? { ...options, "eval-interval": evalInterval } : options;
}
