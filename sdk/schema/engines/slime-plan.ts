import type { NativePlan } from "../native-plan.ts";
import models from "./options/megatron-models.json" with { type: "json" };
import published from "./options/slime.json" with { type: "json" };
import { optionName, toArgv, type OptionList, type OptionValue } from "./option-list.ts";
import { presetOf } from "./presets.ts";
import { slimeConversions } from "./slime-conversion.ts";
import { neutral, type Options, type PlannedSpec } from "./slime-neutral.ts";

export const SLIME_OPTIONS: OptionList = published;

/** Settings that are no option of the command line by themselves. */
const NOT_OPTIONS = new Set([
  "flags",
  "customConfig",
  "evalConfig",
  "sglangConfig",
  "asyncMode",
  "evalInterval",
  "convertToMegatron",
  "convertToHf",
]);
const SLIME_DIR = "{{spotter.engineDir}}";

/** The words of Megatron that describe a model; undefined for one that slime has no script for. */
export function architectureOf(model: string): readonly string[] | undefined {
  return models.models.find(({ names }) => names.some((name) => name.toLowerCase() === model.toLowerCase()))
    ?.argv;
}

/** slime's own filter of groups, which takes the want of a verdict for a reward, and ours, which does not. */
const STOCK_FILTER = "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std";
const OWN_FILTER = "spotter_slime.check_reward_nonzero_std";

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
  const billions = presetOf(spec.model.name)?.billions;
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
      ...eventFiles(spec, argv),
    },
    overlay: [...(spec.imageOverlay ?? [])],
    // Ray is begun by the agent, which keeps it.
    before: [],
    // It ends slime after a checkpoint when it is asked to stop, which slime by itself does not.
    argv: ["{{spotter.python}}", "-m", "spotter_slime.launch", `${SLIME_DIR}/${script}`, ...argv],
    conversions: slimeConversions(spec, architecture, billions),
    startedSteps,
  };
}

/** Where TensorBoard's files go, for the agent to read them; slime refuses to write any without being told. */
function eventFiles({ slime = {}, env }: PlannedSpec, argv: readonly string[]): NativePlan["env"] {
  const isOn = argv.includes("--use-tensorboard") || slime.customConfig?.["use_tensorboard"] === true;
  return isOn && env["TENSORBOARD_DIR"] === undefined ? { TENSORBOARD_DIR: "{{spotter.metricsDir}}" } : {};
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
  const given: Options = { ...own(settings), ...own(settings.flags ?? {}) };
  const options: Options = {
    ...ALWAYS,
    ...placesOf(spec),
    ...neutral(spec, startedSteps),
    // Megatron refuses a schedule that is not the one of the checkpoint, and more steps make another one.
    ...(startedSteps > 0 ? { "override-opt-param-scheduler": true } : {}),
    ...own(presetOf(spec.model.name)?.train.settings ?? {}),
    ...given,
    ...(settings.numRollout === undefined ? {} : { "num-rollout": startedSteps + settings.numRollout }),
    ...document("custom-config-path", settings.customConfig),
    ...document("eval-config", settings.evalConfig),
    ...document("sglang-config", settings.sglangConfig),
    ...(given["advantage-estimator"] === "ppo" && given["megatron-config-path"] === undefined
      ? document("megatron-config-path", CRITIC)
      : {}),
  };
  if (settings.evalInterval === null) delete options["eval-interval"];
  if (settings.convertToHf === true) delete options["save-hf"];
  if (given["num-steps-per-rollout"] !== undefined) delete options["global-batch-size"];
  else options["global-batch-size"] = given["global-batch-size"] ?? samplesOf(options);
  if (options["dynamic-sampling-filter-path"] === STOCK_FILTER && options["custom-rm-path"] === OWN_REWARD)
    options["dynamic-sampling-filter-path"] = OWN_FILTER;
  return options;
}

/** Answers to a step's prompts. */
function samplesOf(options: Options): number {
  return Number(options["rollout-batch-size"]) * Number(options["n-samples-per-prompt"] ?? 1);
}

/** Where they are not told otherwise, actor and critic write to the same folder, one over the other. */
const CRITIC = {
  megatron: [
    {
      name: "default",
      role: "critic",
      overrides: { load: "{{spotter.criticLoadDir}}", save: "{{spotter.saveDir}}/critic" },
    },
  ],
};

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

const OWN_REWARD = "spotter_slime.reward";

function placesOf(spec: PlannedSpec): Options {
  const { evalDataset, rollout, kind, python, slime = {} } = spec;
  const rewards = spec.rewards ?? python?.rewards;
  const tools = spec.tools ?? python?.tools;
  const hasTurns = kind !== "sft" && (tools !== undefined || rollout.maxTurns > 1);
  const isJudged = kind === "distill" || (kind === "rl" && rewards !== undefined);
  return {
    "hf-checkpoint": "{{spotter.modelDir}}",
    // What a training begins with that has no checkpoint of its own yet.
    "ref-load": slime.convertToMegatron === true ? "{{spotter.convertedDir}}" : "{{spotter.weightsDir}}",
    load: "{{spotter.saveDir}}",
    save: "{{spotter.saveDir}}",
    "save-hf": "{{spotter.saveDir}}/hf/{rollout_id}",
    "prompt-data": "{{spotter.slimeDataset}}",
    "input-key": "prompt",
    "metadata-key": "metadata",
    ...(tools === undefined ? {} : { "tool-key": "tools" }),
    ...(evalDataset === undefined ? {} : { "eval-prompt-data": ["eval", "{{spotter.slimeEvalDataset}}"] }),
    ...(isJudged
      ? {
          "custom-rm-path": OWN_REWARD,
          "custom-reward-post-process-path": "spotter_slime.post_process",
          "custom-rollout-log-function-path": "spotter_slime.log_rollout",
          ...(evalDataset === undefined
            ? {}
            : { "custom-eval-rollout-log-function-path": "spotter_slime.log_eval" }),
        }
      : {}),
    ...(hasTurns ? { "custom-generate-function-path": "spotter_slime.generate" } : {}),
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
