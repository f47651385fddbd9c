import type { OptionValue } from "./option-list.ts";
import { presetOf, trainingFault } from "./presets.ts";
import type { EngineFault } from "./given-options.ts";
import type { CheckedSpec } from "./slime-check.ts";
import { isApart } from "./slime-neutral.ts";
import { architectureOf } from "./slime-plan.ts";

/** How many GPUs do what, and over how many of them the model is cut. */
interface Shape {
  actor: number;
  rollout: number;
  engine: number;
  tp: number;
  pp: number;
  cp: number;
  ep: number;
  etp: number;
}

type Options = Readonly<Record<string, OptionValue>>;

/** How the GPUs are shared out, as slime and Megatron divide them; each fault with a shape that fits. */
export function shapeFaults(spec: CheckedSpec, options: Options): EngineFault[] {
  const shape = shapeOf(options);
  const shares = [
    ...engineFaults(spec, shape),
    ...batchFaults(options),
    ...countFaults(spec, options, shape),
  ];
  // How the model is to be cut over GPUs that are not there is of no use to know.
  if (shares.some(({ where }) => where === "slime.actorNumGpusPerNode")) return shares;
  const cuts = cutFaults(spec, options, shape);
  const fits = cuts.length > 0 ? fittingCut(spec, options, shape) : undefined;
  return [...shares, ...cuts.map((each) => (fits === undefined ? each : { ...each, hint: `${fits} fits.` }))];
}

function shapeOf(options: Options): Shape {
  const number = (name: string, otherwise = 1): number => Number(options[name] ?? otherwise);
  const actor = number("actor-num-nodes") * number("actor-num-gpus-per-node");
  return {
    actor,
    rollout: number("rollout-num-gpus", actor),
    engine: number("rollout-num-gpus-per-engine"),
    tp: number("tensor-model-parallel-size"),
    pp: number("pipeline-model-parallel-size"),
    cp: number("context-parallel-size"),
    ep: number("expert-model-parallel-size"),
    etp: number("expert-tensor-parallel-size"),
  };
}

function fault(where: string, message: string, hint?: string): EngineFault {
  return { where: `slime.${where}`, message, ...(hint === undefined ? {} : { hint }) };
}

/** The model cut over the GPUs that learn: by tensors, layers, context and experts. */
function cutFaults(spec: CheckedSpec, options: Options, shape: Shape): EngineFault[] {
  const { actor, tp, pp, cp, ep, etp } = shape;
  const faults: EngineFault[] = [];
  if (actor % (tp * pp * cp) !== 0)
    faults.push(
      fault(
        "tensorModelParallelSize",
        `times pipeline and context parallelism is ${tp * pp * cp}, which ${actor} GPUs are no multiple of`,
      ),
    );
  if (ep > 1 && actor % (ep * etp * pp) !== 0)
    faults.push(
      fault(
        "expertModelParallelSize",
        `times expert-tensor and pipeline parallelism is ${ep * etp * pp}, which ${actor} GPUs are no multiple of`,
      ),
    );
  faults.push(...modelFaults(spec, options, shape));
  return faults.length > 0 ? faults : memoryFaults(spec, options, shape);
}

/** A layer's heads are cut by tensor parallelism, the layers by pipeline parallelism. */
function modelFaults({ model }: CheckedSpec, options: Options, { tp, pp }: Shape): EngineFault[] {
  const architecture = architectureOf(model.name) ?? [];
  const known = (name: string): number => {
    const at = architecture.indexOf(`--${name}`);
    return Number(options[name] ?? (at < 0 ? 0 : architecture[at + 1]));
  };
  const [heads, groups] = [known("num-attention-heads"), known("num-query-groups")];
  const layers = known("num-layers");
  const faults: EngineFault[] = [];
  const hasGroups = groups === 0 || groups % tp === 0 || tp % groups === 0;
  if (heads % tp !== 0 || !hasGroups)
    faults.push(
      fault(
        "tensorModelParallelSize",
        `is ${tp}, over which the ${heads} heads${groups > 0 ? ` in ${groups} groups` : ""} of ${model.name} cannot be cut`,
      ),
    );
  const isUneven = UNEVEN.some((name) => options[name] !== undefined);
  if (layers % pp !== 0 && !isUneven)
    faults.push(
      fault(
        "pipelineModelParallelSize",
        `is ${pp}, which the ${layers} layers of ${model.name} are no multiple of`,
      ),
    );
  return faults;
}

/** Ways to give the hosts different numbers of layers. */
const UNEVEN = [
  "decoder-first-pipeline-num-layers",
  "decoder-last-pipeline-num-layers",
  "pipeline-model-parallel-layout",
];

function memoryFaults(spec: CheckedSpec, options: Options, { actor, tp, pp, ep }: Shape): EngineFault[] {
  const preset = presetOf(spec.model.name);
  const gpu = spec.hardware?.gpu ?? preset?.train.gpu;
  if (preset === undefined || gpu === undefined) return [];
  const memory = trainingFault({
    billions: preset.billions,
    gpu,
    gpus: actor,
    modelParallel: tp * pp * Math.max(1, ep / Math.max(1, tp)),
    optimizerOnCpu: options["optimizer-cpu-offload"] === true,
  });
  return memory === undefined ? [] : [{ where: "hardware", ...memory }];
}

/** The cut that changes least and has no fault, as settings to write down; undefined where there is none. */
function fittingCut(spec: CheckedSpec, options: Options, shape: Shape): string | undefined {
  const sizes = divisorsUpTo(shape.actor, MAX_CUT);
  const experts = shape.ep > 1 ? sizes : [shape.ep];
  const found = sizes
    .flatMap((tp) => sizes.flatMap((pp) => [shape.cp, 1].map((cp) => ({ tp, pp, cp }))))
    .flatMap((cut) => experts.flatMap((ep) => [shape.etp, 1].map((etp) => ({ ...shape, ...cut, ep, etp }))))
    .map((cut) => ({ cut, changes: changesOf(shape, cut) }))
    .sort((a, b) => a.changes.length - b.changes.length || distance(shape, a.cut) - distance(shape, b.cut))
    .find(({ cut }) => cutFaults(spec, options, cut).length === 0);
  return found?.changes.join(", ");
}

/** Beyond it nobody cuts a model, and a suggestion should not take long. */
const MAX_CUT = 64;
const CUT_NAMES = {
  tp: "tensorModelParallelSize",
  pp: "pipelineModelParallelSize",
  cp: "contextParallelSize",
  ep: "expertModelParallelSize",
  etp: "expertTensorParallelSize",
} as const;
const CUTS = Object.keys(CUT_NAMES) as (keyof typeof CUT_NAMES)[];

function changesOf(from: Shape, to: Shape): string[] {
  return CUTS.filter((each) => from[each] !== to[each]).map((each) => `${CUT_NAMES[each]}: ${to[each]}`);
}

/** Sum of the ratios, as powers of two. */
function distance(from: Shape, to: Shape): number {
  return CUTS.reduce((sum, each) => sum + Math.abs(Math.log2(to[each] / from[each])), 0);
}

function engineFaults({ kind }: CheckedSpec, { rollout, engine }: Shape): EngineFault[] {
  if (kind === "sft" || rollout % engine === 0) return [];
  const message = `is ${rollout}, no multiple of the ${engine} GPUs of an engine`;
  const hint =
    rollout > engine
      ? `rolloutNumGpus: ${rollout - (rollout % engine)} is one.`
      : `rolloutNumGpusPerEngine: ${largestDivisor(rollout, engine)} divides it.`;
  return [fault("rolloutNumGpus", message, hint)];
}

function batchFaults(options: Options): EngineFault[] {
  const samples = Number(options["rollout-batch-size"]) * Number(options["n-samples-per-prompt"] ?? 1);
  const batch = Number(options["global-batch-size"] ?? samples);
  if (samples % batch === 0) return [];
  const message = `is ${batch}, and the ${samples} samples of a rollout are no multiple of it`;
  return [
    fault("globalBatchSize", message, `globalBatchSize: ${largestDivisor(samples, batch)} divides them.`),
  ];
}

/** GPUs that the parts need together, where it is known how many there are. */
function countFaults(spec: CheckedSpec, options: Options, { actor, rollout }: Shape): EngineFault[] {
  const { kind, hardware, nodes } = spec;
  if (hardware === undefined) return [];
  const [asked, instances] = [Number(options["actor-num-nodes"]), hardware.nodes ?? 1];
  if (asked > instances) {
    const message = `is ${asked}, and the hardware is ${instances} of them`;
    return [fault("actorNumNodes", message, `Ask for hardware: { nodes: ${asked} }.`)];
  }
  if (hardware.gpu === undefined) return [];
  const has = hardware.count * nodes;
  const apart = isApart(spec);
  const needed = kind === "sft" ? actor : apart ? actor + rollout : Math.max(actor, rollout);
  if (needed <= has) return [];
  if (!apart) {
    const where = actor > has ? "actorNumGpusPerNode" : "rolloutNumGpus";
    const hint = `Leave it out, or ask for hardware: { gpu: "${hardware.gpu}", count: ${Math.min(8, needed)} }.`;
    return [fault(where, `asks for ${needed} GPUs, and there are ${has}`, hint)];
  }
  const half = Math.floor(hardware.count / 2);
  const message = `is ${rollout} beside the ${actor} GPUs that learn, and there are ${has}`;
  const hint =
    half > 0
      ? `actorNumGpusPerNode: ${half} with rolloutNumGpus: ${has - half * nodes} fit.`
      : "One GPU is too few for both at a time: leave colocate and asyncMode out.";
  return [fault("rolloutNumGpus", message, hint)];
}

function divisorsUpTo(total: number, atMost: number): number[] {
  return Array.from({ length: atMost }, (_, index) => index + 1).filter((each) => total % each === 0);
}

/** The largest number up to `atMost` that divides `total`. */
function largestDivisor(total: number, atMost: number): number {
  // Whatever numbers are given: nobody waits for a suggestion.
  for (let each = Math.min(total, atMost, 1_000_000); each > 1; each--) if (total % each === 0) return each;
  return 1;
}
