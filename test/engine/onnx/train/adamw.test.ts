import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import { AdamW, type AdamWParams } from "../../../../engine/onnx/train/adamw.ts";
import { readFixture, relativeError } from "../support/fixtures.ts";

interface Reference {
  optimizer: AdamWParams & { learningRate: number };
  start: [number[], number[]];
  steps: { gradients: [number[], number[]]; norm: number; weights: [number[], number[]] }[];
}

const specs = [
  { name: "matrix", shape: [4, 5], parts: [{ name: "matrix", rows: 4 }] },
  { name: "vector", shape: [6], parts: [{ name: "vector", rows: 6 }] },
];
const params = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };

describe("AdamW", () => {
  it("follows torch.optim.AdamW with clip_grad_norm_ for three steps", () => {
    const reference = readFixture("adamw.json") as Reference;
    const weights = filled(reference.start);
    const optimizer = new AdamW(weights, reference.optimizer);
    for (const step of reference.steps) {
      const norm = optimizer.update(filled(step.gradients), reference.optimizer.learningRate);
      expect(norm).toBeCloseTo(step.norm, 5);
      expect(relativeError(weights.get("matrix").data, step.weights[0])).toBeLessThan(1e-6);
      expect(relativeError(weights.get("vector").data, step.weights[1])).toBeLessThan(1e-6);
    }
  });

  it("leaves everything alone when the gradient is zero, momentum or not", () => {
    const weights = filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]);
    const optimizer = new AdamW(weights, { ...params, weightDecay: 0.1 });
    optimizer.update(filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]), 0.1);
    const before = weights.clone();
    expect(optimizer.update(new ParameterSet(specs), 0.1)).toBe(0);
    expect(optimizer.step).toBe(1);
    expect(weights.get("matrix").data).toEqual(before.get("matrix").data);
  });

  it.each([NaN, Infinity])("refuses a gradient of %s and keeps weights, moments and step", (odd) => {
    const weights = filled([Array<number>(20).fill(1), Array<number>(6).fill(1)]);
    const optimizer = new AdamW(weights, params);
    const gradients = filled([Array<number>(20).fill(1), [0, 0, odd, 0, 0, 0]]);
    const error = caught(() => optimizer.update(gradients, 0.1));
    expect(SpotterError.is(error) && [error.code, error.where]).toEqual(["numeric_failure", "vector"]);
    expect(weights.get("matrix").data.every((weight) => weight === 1)).toBe(true);
    expect(optimizer.first.get("matrix").data.every((moment) => moment === 0)).toBe(true);
    expect(optimizer.step).toBe(0);
  });
});

function filled([matrix, vector]: [number[], number[]]): ParameterSet {
  const set = new ParameterSet(specs);
  set.get("matrix").data.set(matrix);
  set.get("vector").data.set(vector);
  return set;
}

function caught(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown");
}
