import type { Hardware } from "../hardware.ts";
import { nearestName } from "../nearest-name.ts";
import type { RunSpec } from "../run-spec.ts";
import { optionFaults, type OptionValue } from "./option-list.ts";
import { MODEL_PRESETS, presetOf, trainingFault } from "./presets.ts";
import { slimeAlgorithmFaults } from "./slime-algorithm.ts";
import { architectureOf, SLIME_OPTIONS, slimeOptions, type PlannedSpec } from "./slime-plan.ts";

/** Why a run cannot be made on slime, at its key of the run spec. */
export interface EngineFault {
  where: string;
  message: string;
  hint?: string;
}

type CheckedSpec = PlannedSpec & Pick<RunSpec, "adapter" | "environments"> & { hardware?: Hardware };

/** Everything that would fail on the GPUs, found before one is paid for; all of it at once. */
export function slimeFaults(spec: CheckedSpec): EngineFault[] {
  const flags = spec.slime?.flags ?? {};
  const wrong = optionFaults(SLIME_OPTIONS, flags).map(({ name, message, hint }) => ({
    where: `slime.flags.${name}`,
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
  const known = wrong.length > 0 ? { ...spec, slime: { ...spec.slime, flags: {} } } : spec;
  return [
    ...wrong,
    ...unsupported(spec),
    ...slimeAlgorithmFaults(spec),
    ...shapeFaults(spec, slimeOptions(known)),
  ];
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

/** How the GPUs are shared out, as slime and Megatron divide them. */
function shapeFaults(spec: CheckedSpec, options: Record<string, OptionValue>): EngineFault[] {
  const number = (name: string, otherwise = 1): number => Number(options[name] ?? otherwise);
  const perNode = number("actor-num-gpus-per-node");
  const actor = number("actor-num-nodes") * perNode;
  const [tp, pp, cp] = [
    number("tensor-model-parallel-size"),
    number("pipeline-model-parallel-size"),
    number("context-parallel-size"),
  ];
  const [ep, etp] = [number("expert-model-parallel-size"), number("expert-tensor-parallel-size")];
  const engine = number("rollout-num-gpus-per-engine");
  const rollout = number("rollout-num-gpus", actor);
  const faults: EngineFault[] = [];
  const fault = (where: string, message: string, hint?: string) =>
    faults.push({ where: `slime.${where}`, message, ...(hint === undefined ? {} : { hint }) });
  const nodes = spec.hardware?.nodes ?? 1;
  if (number("actor-num-nodes") > nodes && spec.hardware !== undefined)
    fault(
      "actorNumNodes",
      `is ${number("actor-num-nodes")}, and the hardware is ${nodes} of them`,
      `Ask for hardware: { nodes: ${number("actor-num-nodes")} }.`,
    );
  if (actor % (tp * pp * cp) !== 0)
    fault(
      "tensorModelParallelSize",
      `times pipeline and context parallelism is ${tp * pp * cp}, which ${actor} GPUs are no multiple of`,
      `${largestDivisor(actor, tp)} divides them.`,
    );
  if (ep > 1 && actor % (ep * etp * pp) !== 0)
    fault(
      "expertModelParallelSize",
      `times expert-tensor parallelism is ${ep * etp}, which ${actor} GPUs are no multiple of`,
    );
  if (spec.kind !== "sft" && rollout % engine !== 0)
    fault(
      "rolloutNumGpus",
      `is ${rollout}, no multiple of the ${engine} GPUs of an engine`,
      `${Math.max(engine, rollout - (rollout % engine))} is one.`,
    );
  const samples = number("rollout-batch-size") * number("n-samples-per-prompt");
  const batch = number("global-batch-size", samples);
  if (samples % batch !== 0)
    fault("globalBatchSize", `is ${batch}, and the ${samples} samples of a rollout are no multiple of it`);
  const preset = presetOf(spec.model.name);
  const gpu = spec.hardware?.gpu ?? preset?.train.gpu;
  if (preset === undefined || gpu === undefined) return faults;
  const memory = trainingFault({
    billions: preset.billions,
    gpu,
    gpus: actor,
    modelParallel: tp * pp * Math.max(1, ep / Math.max(1, tp)),
    optimizerOnCpu: options["optimizer-cpu-offload"] === true,
  });
  if (memory !== undefined) faults.push({ where: "hardware", ...memory });
  return faults;
}

function largestDivisor(total: number, atMost: number): number {
  for (let each = Math.min(total, atMost); each > 1; each--) if (total % each === 0) return each;
  return 1;
}
