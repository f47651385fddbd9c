import { describe, expect, it } from "vitest";
import { argmax, sumAbove, temper, walk, walkAbove } from "../../../../engine/onnx/sample/row.ts";
import { seededUniform } from "../../../../engine/onnx/sample/seeded.ts";

const uniform = seededUniform(4);

/** Values of a row of any length; many 0 and many equal. */
function randomRow(length: number): Float32Array {
  return Float32Array.from({ length }, () => Math.floor(uniform() * 8) / 64);
}

describe("argmax", () => {
  it("finds the first of the largest, in rows of any length", () => {
    for (let length = 1; length < 80; length++) {
      const row = randomRow(length);
      expect(argmax(row)).toBe(row.indexOf(Math.max(...row)));
    }
    expect(argmax(new Float32Array())).toBe(0);
    expect(argmax(Float32Array.of(-3, -1, -2))).toBe(1);
  });
});

describe("walks", () => {
  it("end where the running sum first exceeds the target", () => {
    for (let length = 1; length < 120; length++) {
      const row = randomRow(length);
      for (const floor of [0, 3 / 64]) {
        const kept = [...row].map((value) => (value < floor ? 0 : value));
        const total = kept.reduce((a, b) => a + b, 0);
        expect(sumAbove(row, floor)).toBe(total);
        const target = uniform() * total;
        let reached = 0;
        const expected = kept.findIndex((value) => (reached += value) > target);
        if (total === 0) continue;
        expect(walkAbove(row, floor, target)).toBe(expected);
        if (floor === 0) expect(walk(row, target)).toBe(expected);
      }
    }
  });

  it("end at the last value that counts where rounding leaves some over", () => {
    const row = new Float32Array(100);
    row[70] = 0.9;
    row[20] = 0.05;
    expect(walk(row, 0.99)).toBe(70);
    row[90] = 0.01;
    expect(walkAbove(row, 0.02, 0.99)).toBe(70);
  });
});

describe("temper", () => {
  it("gives the probabilities at another temperature", () => {
    const logits = [1, -2, 0.5, 3];
    const at = (temperature: number): Float32Array => {
      const powers = logits.map((logit) => Math.exp(logit / temperature));
      return Float32Array.from(powers, (power) => power / powers.reduce((a, b) => a + b, 0));
    };
    for (const temperature of [0.2, 0.7, 1, 1.8]) {
      const row = at(1);
      temper(row, temperature);
      for (const [i, value] of row.entries()) expect(value).toBeCloseTo(at(temperature)[i] ?? NaN, 5);
    }
  });

  it("keeps what is nothing at nothing, and what is unlikely apart", () => {
    const row = Float32Array.of(0, 1e-30, 2e-30);
    temper(row, 0.1);
    expect([...row].map((value) => Number(value.toFixed(5)))).toEqual([0, 0.00098, 0.99902]);
  });
});
