import type { Control } from "../control.ts";
import { readRollouts } from "../runs/rollouts.ts";
import { shownRollout, type ShownRollouts } from "./views/rollouts-model.ts";

/** The rollouts of a step, or of the latest one, as the pages show them. */
export async function readShownRollouts(
  control: Control,
  id: string,
  step: number | undefined,
): Promise<ShownRollouts> {
  const read = await readRollouts(control, id, step);
  return { step: read.step, rollouts: read.rollouts.map(shownRollout) };
}
