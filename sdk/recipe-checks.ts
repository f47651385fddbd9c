import * as z from "zod/mini";
import type { GrpoParams } from "./grpo-params.ts";
import type { DistillParams, Recipe, SftParams } from "./recipe.ts";
import { positiveInt } from "./schema/common.ts";
import { distillAlgorithm } from "./schema/distill-algorithm.ts";
import { SpotterError } from "./schema/errors.ts";
import { grpoAlgorithm } from "./schema/grpo-algorithm.ts";
import { grpoFaults } from "./schema/grpo-faults.ts";
import { rolloutSpec } from "./schema/rollout-spec.ts";
import { sftAlgorithm } from "./schema/sft-algorithm.ts";
import { trainerSpec } from "./schema/trainer-spec.ts";
import { parseRecipe } from "./trainer-params.ts";

const { kind: _grpo, ...grpoFields } = grpoAlgorithm.shape;
const { kind: _sft, ...sftFields } = sftAlgorithm.shape;
const { kind: _distill, ...distillFields } = distillAlgorithm.shape;
const shared = { ...trainerSpec.shape, evalEvery: z.optional(z.nullable(positiveInt)) };
const grpoParams = z.strictObject({ ...shared, ...rolloutSpec.shape, ...grpoFields });
const sftParams = z.strictObject({ ...shared, ...sftFields });
const distillParams = z.strictObject({ ...shared, ...rolloutSpec.shape, ...distillFields });

/** `recipes.grpo`. */
export function grpo(params: GrpoParams): Recipe {
  const flat = parseRecipe(grpoParams, params, "recipes.grpo");
  const algorithm = { kind: "grpo" as const, ...pick(flat, grpoFields) };
  const rollout = pick(flat, rolloutSpec.shape);
  refuseFaults(grpoFaults(algorithm, rollout));
  return { kind: "rl", algorithm, rollout, ...sharedOf(flat) };
}

/** `recipes.sft`. */
export function sft(params: SftParams): Recipe {
  const flat = parseRecipe(sftParams, params, "recipes.sft");
  return { kind: "sft", algorithm: { kind: "sft", ...pick(flat, sftFields) }, ...sharedOf(flat) };
}

/** `recipes.distill`. */
export function distill(params: DistillParams): Recipe {
  const flat = parseRecipe(distillParams, params, "recipes.distill");
  return {
    kind: "distill",
    algorithm: { kind: "distill", ...pick(flat, distillFields) },
    rollout: pick(flat, rolloutSpec.shape),
    ...sharedOf(flat),
  };
}

/** What does not go together is said where it is written, and not when the run is launched. */
function refuseFaults(faults: ReturnType<typeof grpoFaults>): void {
  const lines = faults.map(({ path, message }) => `${path.at(-1)} ${message}`);
  if (faults.length === 0) return;
  throw new SpotterError("invalid_input", `recipes.grpo: ${lines.join("; ")}.`, {
    where: faults[0]?.path.at(-1),
    hint: "Leave one of them out.",
  });
}

function sharedOf(flat: z.infer<typeof grpoParams | typeof sftParams | typeof distillParams>) {
  if (flat.steps < 1) {
    throw new SpotterError("zero_work", `steps is ${flat.steps}: such a run does no work.`, {
      where: "steps",
      hint: "Ask for at least one step.",
    });
  }
  return { trainer: pick(flat, trainerSpec.shape), evalEvery: flat.evalEvery ?? null };
}

function pick<T extends object, K extends keyof T>(from: T, shape: Record<K, unknown>): Pick<T, K> {
  const names = Object.keys(shape) as K[];
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]])) as Pick<
    T,
    K
  >;
}
