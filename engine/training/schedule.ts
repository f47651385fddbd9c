export interface LearningRatePlan {
  learningRate: number;
  warmupSteps: number;
  schedule: "constant" | "linear" | "cosine";
  steps: number;
}

/**
 * Learning rate of step `step` (1 to `steps`): rises linearly over the warm-up, then stays, or falls towards
 * zero, which the step after the last would reach.
 */
export function learningRateAt(plan: LearningRatePlan, step: number): number {
  const { learningRate, warmupSteps, schedule, steps } = plan;
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const progress = (step - 1 - warmupSteps) / Math.max(1, steps - warmupSteps);
  switch (schedule) {
    case "constant":
      return learningRate;
    case "linear":
      return learningRate * (1 - progress);
    case "cosine":
      return (learningRate * (1 + Math.cos(Math.PI * progress))) / 2;
  }
}
