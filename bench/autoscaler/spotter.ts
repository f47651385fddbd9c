import { decide } from "../../functions/autoscaler/decide.ts";
import type { ScalerState } from "../../functions/autoscaler/views.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import type { NewPolicy } from "./policy.ts";

const EVERY_MS = 2_000;

/** Our own: the very function that the control plane calls, as often as it does. */
export const spotter: NewPolicy = ({ min, max, target, idleTimeoutS, scaleDownS }) => {
  const config = scalingOf({
    min,
    max,
    targetConcurrency: target,
    idleTimeoutMs: idleTimeoutS * 1_000,
    scaleDownWindowMs: scaleDownS * 1_000,
  });
  let state: ScalerState | undefined;
  let lastMs: number | undefined;
  return {
    step({ nowMs, desired, load }) {
      const isWake = desired === 0 && (load?.queued ?? 0) > 0;
      if (lastMs !== undefined && nowMs >= lastMs && nowMs - lastMs < EVERY_MS && !isWake) return desired;
      lastMs = nowMs;
      const decision = decide(state, { desired, load }, nowMs, config);
      state = decision.nextState;
      return decision.desired;
    },
  };
};
