import { describe, expect, it } from "vitest";
import type { OptimizerSetup } from "../../../../../engine/onnx/engine-api.ts";
import { ParameterSet } from "../../../../../engine/onnx/models/parameter-set.ts";
import { createOptimizer } from "../../../../../engine/onnx/train/optimizers/index.ts";
import { readFixture, relativeError } from "../../support/fixtures.ts";

interface Reference {
  optimizer: Omit<OptimizerSetup & { type: "adamw" }, "type"> & { learningRate: number };
  start: [number[], number[]];
  steps: { gradients: [number[], number[]]; norm: number; weights: [number[], number[]] }[];
}

const specs = [
  { name: "matrix", shape: [4, 5], parts: [{ name: "matrix", rows: 4 }] },
  { name: "vector", shape: [6], parts: [{ name: "vector", rows: 6 }] },
];

describe("AdamW", () => {
  it("follows torch.optim.AdamW with clip_grad_norm_ for three steps", async () => {
    const reference = readFixture("adamw.json") as Reference;
    const weights = filled(reference.start);
    const optimizer = createOptimizer(weights, { ...reference.optimizer, type: "adamw" }, { threads: 1 });
    for (const step of reference.steps) {
      const norm = await optimizer.update(filled(step.gradients), reference.optimizer.learningRate);
      expect(norm).toBeCloseTo(step.norm, 5);
      expect(relativeError(weights.get("matrix").data, step.weights[0])).toBeLessThan(1e-6);
      expect(relativeError(weights.get("vector").data, step.weights[1])).toBeLessThan(1e-6);
    }
  });

  it("leaves everything alone when the gradient is zero, momentum or not", async () => {
    const weights = filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]);
    const optimizer = createOptimizer(weights, { ...params, weightDecay: 0.1 }, { threads: 1 });
    await optimizer.update(filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]), 0.1);
    const before = weights.clone();
    expect(await optimizer.update(new ParameterSet(specs), 0.1)).toBe(0);
    expect(optimizer.step).toBe(1);
    expect(weights.get("matrix").data).toEqual(before.get("matrix").data);
  });

  it.each([NaN, Infinity])("refuses a gradient of %s and keeps weights, moments and step", async (odd) => {
    const weights = filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]);
    const optimizer = createOptimizer(weights, params, { threads: 1 });
    const gradients = filled([Array<number>(20).fill(1), [0, 0, odd, 0, 0, 0]]);
    await expect(optimizer.update(gradients, 0.1)).rejects.toMatchObject({
      code: "numeric_failure",
      where: "vector",
    });
    expect(weights.get("matrix").data.every((weight) => weight === 1)).toBe(true);
    for (const moment of Object.values(optimizer.moments))
      expect(moment.get("matrix").data.every((value) => value === 0)).toBe(true);
    expect(optimizer.step).toBe(0);
  });
});

const params = {
  type: "adamw" as const,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

function filled([matrix, vector]: [number[], number[]]): ParameterSet {
  const set = new ParameterSet(specs);
  set.get("matrix").data.set(matrix);
  set.get("vector").data.set(vector);
  return set;
}
