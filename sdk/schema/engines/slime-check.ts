import type { Hardware } from "../hardware.ts";
import { nearestName } from "../nearest-name.ts";
import type { RunSpec } from "../run-spec.ts";
import { givenFaults, ownFaults, type EngineFault } from "./given-options.ts";
import { MODEL_PRESETS } from "./presets.ts";
import { slimeAlgorithmFaults } from "./slime-algorithm.ts";
import type { PlannedSpec } from "./slime-neutral.ts";
import { architectureOf, SLIME_OPTIONS, slimeOptions } from "./slime-plan.ts";
import { ruleFaults } from "./slime-rules.ts";
import { shapeFaults } from "./slime-shape.ts";

export type CheckedSpec = PlannedSpec & Pick<RunSpec, "adapter" | "environments"> & { hardware?: Hardware };

/** Options that belong to Spotter: what it reads back, counts by, or goes on from. */
const OURS: Readonly<Record<string, string>> = {
  "num-rollout": "Give numRollout: steps are counted on top of those of a checkpoint.",
  "num-epoch": "Give numRollout.",
  "start-rollout-id": "Give startFrom.",
  "ckpt-step": "Give startFrom: a checkpoint is a step.",
  finetune: 'Give startFrom with mode "weights".',
  "save-hf": "Give convertToHf: true to save in Megatron's format alone.",
  save: "Leave it out.",
  load: "Leave it out; startFrom begins with a checkpoint.",
  "prompt-data": "Give the dataset of the run.",
  "eval-prompt-data": "Give the evalDataset of the run.",
  "input-key": "Leave it out.",
  "metadata-key": "Leave it out.",
};

/** Everything that would fail on the GPUs, found before one is paid for; all of it at once. */
export function slimeFaults(spec: CheckedSpec): EngineFault[] {
  const { flags = {}, customConfig = {}, ...settings } = spec.slime ?? {};
  const wrong = [
    ...givenFaults(SLIME_OPTIONS, { at: "slime", settings, flags }, OURS),
    ...ownFaults(customConfig, "slime.customConfig", OURS),
  ];
  // What cannot be said is left out of what is looked at next, so that all is told at once.
  const known = wrong.length > 0 ? { ...spec, slime: { ...spec.slime, flags: {} } } : spec;
  const options = slimeOptions(known);
  return [
    ...wrong,
    ...unsupported(spec),
    ...slimeAlgorithmFaults(spec),
    ...stepFaults(spec),
    ...ruleFaults(known, options),
    ...shapeFaults(known, options),
  ];
}

function stepFaults({ slime = {}, trainer }: CheckedSpec): EngineFault[] {
  const { numRollout } = slime;
  if (numRollout === undefined || numRollout === trainer.steps) return [];
  const message = `is ${numRollout}, and the run has ${trainer.steps} steps`;
  return [{ where: "slime.numRollout", message, hint: "Leave it out, or give both the same." }];
}

function unsupported(spec: CheckedSpec): EngineFault[] {
  const faults: EngineFault[] = [];
  if (spec.adapter.kind === "lora")
    faults.push({
      where: "adapter",
      message: "is LoRA, and slime trains all weights",
      hint: "Leave the adapter out.",
    });
  if (spec.environments !== undefined)
    faults.push({
      where: "environments",
      message: "are not played on slime",
      hint: "Give a dataset, rewards and tools; or play them on the embedded engine.",
    });
  if (spec.algorithm.kind === "distill" && spec.algorithm.answers === "teacher")
    faults.push({
      where: "algorithm.answers",
      message: "is teacher, and on slime the student answers",
      hint: "Leave it out, or distil on the embedded engine.",
    });
  const { name } = spec.model;
  if (architectureOf(name) === undefined && spec.slime?.flags?.["num-layers"] === undefined) {
    const near = nearestName(
      name,
      MODEL_PRESETS.flatMap(({ names }) => names),
    );
    faults.push({
      where: "model",
      message: `${name} has no architecture that is known here, which Megatron has to be told`,
      hint: near === undefined ? "Give num-layers and the rest in slime.flags." : `Did you mean ${near}?`,
    });
  }
  return faults;
}
