import { scalingOf, type ScalingSettings } from "../../sdk/schema/scaling.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** Of what nobody launched for himself: it sleeps soon after the last request. */
export const IMPLICIT_SCALING: ScalingSettings = { min: 0, max: 1, idleTimeoutMs: 60_000 };

/**
 * Settings after a change, in which only what is given counts. Throws `invalid_input` if the two together
 * leave no number of replicas.
 */
export function changedScaling(
  current: ScalingSettings | undefined,
  changes: ScalingSettings | undefined,
): ScalingSettings | undefined {
  if (changes === undefined) return current;
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged: ScalingSettings = { ...current, ...Object.fromEntries(given) };
  const { min, max } = scalingOf(merged);
  if (min <= max) return merged;
  throw new SpotterError("invalid_input", `scaling.min is ${min}, which is above scaling.max, ${max}.`, {
    where: "scaling.max",
    hint: "Raise max or lower min; one that is not given stays as it was, at first 1.",
  });
}
