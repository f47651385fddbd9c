import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { OptimizerSetup } from "../../../../../engine/onnx/engine-api.ts";
import { ParameterSet } from "../../../../../engine/onnx/models/parameter-set.ts";
import { createOptimizer } from "../../../../../engine/onnx/train/optimizers/index.ts";
import { NewtonSchulz } from "../../../../../engine/onnx/train/optimizers/newton-schulz.ts";
import { readFixture, relativeError } from "../../support/fixtures.ts";

type Tensors = Record<string, number[]>;

/** Written by test/reference/optimizers.py. */
interface Reference {
  made: { script: string; sha256: string };
  learningRate: number;
  parameters: Record<string, { shape: number[]; rows: number[] }>;
  cases: {
    setup: OptimizerSetup;
    start: Tensors;
    steps: { gradients: Tensors; norm: number; weights: Tensors }[];
  }[];
}

const { made, learningRate, parameters, cases } = readFixture("optimizers.json") as Reference;
const specs = Object.entries(parameters).map(([name, { shape, rows }]) => ({
  name,
  shape,
  parts: rows.map((count, index) => ({ name: `${name}.${index}`, rows: count })),
}));
const session = { threads: 1 };

function filled(tensors: Tensors): ParameterSet {
  const set = new ParameterSet(specs);
  for (const [name, values] of Object.entries(tensors)) set.get(name).data.set(values);
  return set;
}

describe("optimizers", () => {
  it("are compared with what the script of today writes", () => {
    const script = readFileSync(new URL(`../../../../../${made.script}`, import.meta.url));
    expect(createHash("sha256").update(script).digest("hex")).toBe(made.sha256);
  });

  it.each(cases.map((each) => ({ ...each, what: JSON.stringify(each.setup) })))(
    "follow the reference for three steps, clipped: $what",
    async ({ setup, start, steps }) => {
      const weights = filled(start);
      const optimizer = createOptimizer(weights, setup, session);
      for (const step of steps) {
        const norm = await optimizer.update(filled(step.gradients), learningRate);
        expect(norm).toBeCloseTo(step.norm, 5);
        for (const [name, expected] of Object.entries(step.weights))
          expect(relativeError(weights.get(name).data, expected), name).toBeLessThan(2e-6);
      }
      await optimizer.close();
    },
  );

  it.each(cases.map(({ setup, steps }) => ({ setup, steps, what: setup.type })))(
    "do not move by momentum where there is no gradient, and not at all by one that is not finite: $what",
    async ({ setup, steps }) => {
      const weights = filled(steps[0]?.weights ?? {});
      const optimizer = createOptimizer(weights, setup, session);
      await optimizer.update(filled(steps[0]?.gradients ?? {}), learningRate);
      const before = weights.clone();
      const moments = Object.values(optimizer.moments).map((moment) => moment.clone());
      expect(await optimizer.update(new ParameterSet(specs), learningRate)).toBe(0);
      const odd = filled(steps[1]?.gradients ?? {});
      odd.get("vector").data[3] = NaN;
      await expect(optimizer.update(odd, learningRate)).rejects.toMatchObject({ code: "numeric_failure" });
      expect(optimizer.step).toBe(1);
      for (const { name, data } of weights) expect(data).toEqual(before.get(name).data);
      Object.values(optimizer.moments).forEach((moment, index) => {
        for (const { name, data } of moment) expect(data).toEqual(moments[index]?.get(name).data);
      });
      await optimizer.close();
    },
  );
});

describe("Newton-Schulz", () => {
  it.each([
    [3, 8],
    [8, 3],
    [5, 5],
  ])("makes %i rows of %i columns orthogonal, whatever their scale", async (rows, columns) => {
    const matrix = Float32Array.from({ length: rows * columns }, (_, i) => 1e-3 * Math.sin(1 + i * i));
    const newtonSchulz = new NewtonSchulz(session);
    const x = await newtonSchulz.orthogonal(matrix, rows, columns);
    await newtonSchulz.close();
    const vectors = rows <= columns ? rowsOf(x, rows, columns) : columnsOf(x, rows, columns);
    for (const [i, a] of vectors.entries())
      for (const [j, b] of vectors.entries()) {
        const product = a.reduce((sum, value, at) => sum + value * (b[at] ?? NaN), 0);
        expect(Math.abs(product - (i === j ? 1 : 0))).toBeLessThan(0.15);
      }
  });

  it("gives zeros for zeros", async () => {
    const newtonSchulz = new NewtonSchulz(session);
    expect(await newtonSchulz.orthogonal(new Float32Array(6), 2, 3)).toEqual(new Float32Array(6));
    await newtonSchulz.close();
  });
});

function rowsOf(x: Float32Array, rows: number, columns: number): number[][] {
  return Array.from({ length: rows }, (_, row) => [...x.subarray(row * columns, (row + 1) * columns)]);
}

function columnsOf(x: Float32Array, rows: number, columns: number): number[][] {
  return Array.from({ length: columns }, (_, column) =>
    Array.from({ length: rows }, (__, row) => x[row * columns + column] ?? NaN),
  );
}
