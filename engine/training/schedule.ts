export interface LearningRatePlan {
  learningRate: number;
  warmupSteps: number;
  schedule: "constant" | "linear" | "cosine";
  steps: number;
  /** Where a warm-up begins and a decay ends. Default 0. */
  minLearningRate?: number | undefined;
  /** Of `linear`: the last steps, in which it falls. Default: all after the warm-up. */
  decaySteps?: number | undefined;
}

/**
 * Learning rate of step `step` (1 to `steps`): rises linearly over the warm-up, then stays, or falls towards the
 * least, which the step after the last would reach. The step before the first would be at the least as well: no
 * step is lost to a rate of 0.
 */
export function learningRateAt(plan: LearningRatePlan, step: number): number {
  const { learningRate, warmupSteps, schedule, steps, minLearningRate: least = 0 } = plan;
  const range = learningRate - least;
  if (step <= warmupSteps) return least + (range * step) / warmupSteps;
  const decaySteps = (schedule === "linear" ? plan.decaySteps : undefined) ?? steps - warmupSteps;
  const progress = Math.max(0, step - 1 - (steps - decaySteps)) / Math.max(1, decaySteps);
  switch (schedule) {
    case "constant":
      return learningRate;
    case "linear":
      return least + range * (1 - progress);
    case "cosine":
      return least + (range * (1 + Math.cos(Math.PI * progress))) / 2;
  }
}
