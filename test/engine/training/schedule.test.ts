import { describe, expect, it } from "vitest";
import { learningRateAt } from "../../../engine/training/schedule.ts";

describe("learning rate", () => {
  it.each([
    { schedule: "constant", warmupSteps: 0, expected: [1, 1, 1, 1] },
    { schedule: "constant", warmupSteps: 2, expected: [0.5, 1, 1, 1] },
    { schedule: "linear", warmupSteps: 0, expected: [1, 0.75, 0.5, 0.25] },
    { schedule: "linear", warmupSteps: 2, expected: [0.5, 1, 1, 0.5] },
    { schedule: "cosine", warmupSteps: 0, expected: [1, 0.854, 0.5, 0.146] },
    { schedule: "linear", warmupSteps: 9, expected: [0.111, 0.222, 0.333, 0.444] },
  ] as const)("$schedule after $warmupSteps steps of warm-up", ({ schedule, warmupSteps, expected }) => {
    const plan = { learningRate: 1, warmupSteps, schedule, steps: 4 };
    const rates = [1, 2, 3, 4].map((step) => Number(learningRateAt(plan, step).toFixed(3)));
    expect(rates).toEqual(expected);
  });

  it.each([
    { schedule: "linear", warmupSteps: 2, least: 0.5, expected: [0.75, 1, 1, 0.75] },
    { schedule: "linear", warmupSteps: 0, least: 0.2, decaySteps: 2, expected: [1, 1, 1, 0.6] },
    { schedule: "linear", warmupSteps: 1, least: 0, decaySteps: 0, expected: [1, 1, 1, 1] },
    { schedule: "cosine", warmupSteps: 0, least: 0.5, expected: [1, 0.927, 0.75, 0.573] },
    { schedule: "constant", warmupSteps: 2, least: 0.5, expected: [0.75, 1, 1, 1] },
  ] as const)("$schedule between its peak and $least, the end $decaySteps steps", (plan) => {
    const { expected, least, ...rest } = plan;
    const whole = { ...rest, learningRate: 1, steps: 4, minLearningRate: least };
    const rates = [1, 2, 3, 4].map((step) => Number(learningRateAt(whole, step).toFixed(3)));
    expect(rates).toEqual(expected);
  });
});
