import type { RunSpec } from "../run-spec.ts";
import type { EngineFault } from "./given-options.ts";
import { presetOf } from "./presets.ts";
import type { PlannedSpec } from "./slime-neutral.ts";

/** From here on a rate that is meant for adapters and small models ruins a large one, all of whose weights it changes. */
const HIGH_RATE = 1e-4;
/** Below it a model is small; one that nothing is known of counts as large. */
const LARGE_BILLIONS = 1;
/** What is usual for all weights. */
const USUAL: Record<RunSpec["kind"], number> = { rl: 1e-6, distill: 1e-6, sft: 1e-5 };

type Rated = Pick<PlannedSpec, "kind" | "model" | "trainer"> & { slime?: Readonly<Record<string, unknown>> };

/** Whether the rate is one that nobody means for all weights. slime's own setting is meant, whatever it is. */
function isHigh({ trainer, slime }: Rated): boolean {
  const flags = (slime?.["flags"] ?? {}) as Readonly<Record<string, unknown>>;
  return trainer.learningRate >= HIGH_RATE && slime?.["lr"] === undefined && flags["lr"] === undefined;
}

function isSmall(model: string): boolean {
  return (presetOf(model)?.billions ?? Infinity) < LARGE_BILLIONS;
}

/** A rate that would ruin the model, such as the default of recipes, which do not know what trains all weights. */
export function rateFaults(spec: Rated): EngineFault[] {
  if (!isHigh(spec) || isSmall(spec.model.name)) return [];
  const { learningRate } = spec.trainer;
  return [
    {
      where: "trainer.learningRate",
      message: `is ${learningRate}, which ruins a large model where all weights are trained, as slime does`,
      hint: `Give the recipe a learningRate: ${plain(USUAL[spec.kind])} is usual for ${spec.kind}. If it is meant: slime: { lr: ${learningRate} }.`,
    },
  ];
}

/** The same of a small model, which may bear it. */
export function rateWarnings(spec: Rated): string[] {
  if (!isHigh(spec) || !isSmall(spec.model.name)) return [];
  return [
    `The learning rate ${spec.trainer.learningRate} is high for all weights of a model on slime, where ${plain(USUAL[spec.kind])} is usual for ${spec.kind}: give learningRate to the recipe if that is not meant.`,
  ];
}

/** As it can be written into a recipe; JavaScript itself writes some as 1e-6 and some not. */
function plain(rate: number): string {
  return rate.toFixed(6).replace(/0+$/, "");
}
