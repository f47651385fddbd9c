import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { createBatches, type Batches } from "./batches.ts";
import type { RowGroup } from "./mixture.ts";
import { seedOf } from "./seeds.ts";

/**
 * The rows that a step may sample beyond its own, from epochs of their own: which they are hangs on the step and never on
 * how many were needed before, so that a resumed run needs no cursor. Undefined where the algorithm takes none.
 */
export function extraBatches(
  { algorithm, seed }: Pick<RunSpec, "algorithm" | "seed">,
  groups: readonly RowGroup[],
): Batches | undefined {
  if (algorithm.kind !== "grpo" || algorithm.maxExtraPrompts === 0) return undefined;
  return createBatches({ seed: seedOf(seed, "extra prompts"), groups, perStep: algorithm.maxExtraPrompts });
}
