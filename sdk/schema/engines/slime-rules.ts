import type { OptionValue } from "./option-list.ts";
import type { EngineFault } from "./given-options.ts";
import type { CheckedSpec } from "./slime-check.ts";

type Options = Readonly<Record<string, OptionValue>>;

interface Rule {
  where: string;
  isBroken: (options: Options, spec: CheckedSpec) => boolean;
  message: string;
  hint: string;
}

const number = (options: Options, name: string): number => Number(options[name] ?? 0);

/** What slime itself asserts of its options when it starts (slime/utils/arguments.py, train_async.py). */
const RULES: readonly Rule[] = [
  {
    where: "colocate",
    isBroken: (options, { slime }) => slime?.asyncMode === true && options["colocate"] === true,
    message: "samples and learns in turn on the same GPUs, and asyncMode does both at a time",
    hint: "Leave one of them out.",
  },
  {
    where: "klCoef",
    isBroken: (options) => number(options, "kl-coef") !== 0 && number(options, "kl-loss-coef") !== 0,
    message: "is given beside klLossCoef: the divergence goes into the reward or into the loss",
    hint: "Leave one of them out.",
  },
  {
    where: "advantageEstimator",
    isBroken: (options) =>
      String(options["advantage-estimator"]).startsWith("reinforce_plus_plus") &&
      options["normalize-advantages"] !== true,
    message: "needs normalised advantages",
    hint: "Give normalizeAdvantages: true.",
  },
  {
    where: "useTis",
    isBroken: (options) => options["use-rollout-logprobs"] === true && options["use-tis"] === true,
    message: "does not go with use-rollout-logprobs",
    hint: "Leave one of them out.",
  },
  {
    where: "overSamplingBatchSize",
    isBroken: (options) =>
      options["over-sampling-batch-size"] !== undefined &&
      number(options, "over-sampling-batch-size") < number(options, "rollout-batch-size"),
    message: "is less than the prompts of a step",
    hint: "Give at least rolloutBatchSize, or leave it out.",
  },
  {
    where: "evalInterval",
    isBroken: (options) =>
      options["eval-interval"] !== undefined &&
      options["eval-prompt-data"] === undefined &&
      options["eval-config"] === undefined,
    message: "is set, and there is nothing to evaluate on",
    hint: "Give an evalDataset or evalConfig, or leave it out.",
  },
  {
    where: "updateWeightMode",
    isBroken: (options) => options["update-weight-mode"] === "delta" && options["colocate"] === true,
    message: "is delta, which is for other GPUs than those that learn",
    hint: "Give colocate: false, or leave it out.",
  },
  {
    where: "updateWeightTransport",
    isBroken: (options) =>
      options["update-weight-mode"] === "delta" && options["update-weight-transport"] !== "disk",
    message: "has to be disk for the mode delta",
    hint: 'Give updateWeightTransport: "disk".',
  },
  {
    where: "updateWeightTransport",
    isBroken: (options) =>
      options["update-weight-transport"] === "disk" && options["update-weight-disk-dir"] === undefined,
    message: "is disk, and there is no folder for it",
    hint: 'Give flags: { "update-weight-disk-dir": … } that all hosts see.',
  },
  {
    where: "flags.opd-teacher-load",
    isBroken: (options) =>
      (options["opd-type"] === "megatron") !== (options["opd-teacher-load"] !== undefined),
    message: "and opd-type megatron need each other",
    hint: "Give both, or neither; a teacher of the run needs none of them.",
  },
  {
    where: "flags.use-opd",
    isBroken: (options) => options["use-opd"] === true && options["opd-type"] === undefined,
    message: "needs an opd-type",
    hint: 'Give flags: { "opd-type": "megatron", "opd-teacher-load": … }, or a run of kind distill.',
  },
  {
    where: "applyChatTemplateKwargs",
    isBroken: (options) => !isJsonObject(options["apply-chat-template-kwargs"] ?? "{}"),
    message: "is no JSON object",
    hint: "Give an object, such as { enable_thinking: false }, or its JSON.",
  },
  {
    where: "rolloutMaxPromptLen",
    isBroken: (options) =>
      options["rollout-max-context-len"] !== undefined &&
      number(options, "rollout-max-prompt-len") > number(options, "rollout-max-context-len") - 1,
    message: "leaves no room for an answer in rolloutMaxContextLen",
    hint: "Give less, or a longer context.",
  },
];

function isJsonObject(text: OptionValue): boolean {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Settings that slime refuses together. */
export function ruleFaults(spec: CheckedSpec, options: Options): EngineFault[] {
  return RULES.filter(({ isBroken }) => isBroken(options, spec)).map(({ where, message, hint }) => ({
    where: `slime.${where}`,
    message,
    hint,
  }));
}
