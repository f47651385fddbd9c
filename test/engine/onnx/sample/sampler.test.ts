import { describe, expect, it } from "vitest";
import {
  alternatives,
  logOf,
  pickToken,
  probabilityTemperature,
} from "../../../../engine/onnx/sample/sampler.ts";
import { choiceSeed, seededUniform } from "../../../../engine/onnx/sample/seeded.ts";

const row = Float32Array.of(0.05, 0.4, 0, 0.25, 0.15, 0.1, 0.05);
const all = { temperature: 1, topP: 1, topK: 0 };

describe("pickToken", () => {
  it("draws from the distribution (chi-square, 6 - 1 degrees of freedom, 0.1 %)", () => {
    const uniform = seededUniform(11);
    const draws = 20_000;
    const counts = new Array<number>(row.length).fill(0);
    for (let i = 0; i < draws; i++) {
      const id = pickToken(row, all, uniform());
      counts[id] = (counts[id] ?? 0) + 1;
    }
    let chiSquare = 0;
    for (const [id, probability] of row.entries()) {
      if (probability === 0) expect(counts[id]).toBe(0);
      else chiSquare += ((counts[id] ?? 0) - draws * probability) ** 2 / (draws * probability);
    }
    expect(chiSquare).toBeLessThan(20.5);
  });

  it("draws from the kept tokens only, in proportion", () => {
    const uniform = seededUniform(3);
    const counts = new Map<number, number>();
    for (let i = 0; i < 10_000; i++) {
      const id = pickToken(row, { temperature: 1, topP: 0.6, topK: 0 }, uniform());
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([1, 3]);
    expect((counts.get(1) ?? 0) / 10_000).toBeCloseTo(0.4 / 0.65, 1);
  });

  it.each([
    { name: "top-k", params: { topP: 1, topK: 3 }, kept: [1, 3, 4] },
    { name: "top-p reached exactly", params: { topP: 0.8, topK: 0 }, kept: [1, 3, 4] },
    { name: "top-p reached in between", params: { topP: 0.81, topK: 0 }, kept: [1, 3, 4, 5] },
    { name: "top-p of what top-k kept", params: { topP: 0.6, topK: 2 }, kept: [1] },
    { name: "a tiny top-p", params: { topP: 1e-9, topK: 0 }, kept: [1] },
    { name: "a top-k above the vocabulary", params: { topP: 1, topK: 99 }, kept: [0, 1, 3, 4, 5, 6] },
    { name: "min-p", params: { topP: 1, topK: 0, minP: 0.3 }, kept: [1, 3, 4] },
    { name: "min-p of everything", params: { topP: 1, topK: 0, minP: 1 }, kept: [1] },
    { name: "min-p and top-k", params: { topP: 1, topK: 5, minP: 0.6 }, kept: [1, 3] },
    { name: "top-p of what min-p kept", params: { topP: 0.8, topK: 0, minP: 0.3 }, kept: [1, 3] },
    { name: "top-p of all that min-p kept", params: { topP: 0.99, topK: 0, minP: 0.3 }, kept: [1, 3, 4] },
  ])("keeps the right tokens: $name", ({ params, kept }) => {
    const seen = new Set<number>();
    for (let u = 0.0005; u < 1; u += 0.001) seen.add(pickToken(row, { temperature: 1, ...params }, u));
    expect([...seen].sort()).toEqual(kept);
  });

  it("takes the likeliest when greedy, the first of equals", () => {
    expect(pickToken(row, { ...all, temperature: 0 }, 0.99)).toBe(1);
    expect(pickToken(Float32Array.of(0.5, 0.5), { ...all, temperature: 0 }, 0.99)).toBe(0);
  });

  it("never gives an impossible token where rounding leaves mass over", () => {
    expect(pickToken(Float32Array.of(0.5, 0.499, 0), all, 0.9999)).toBe(1);
  });
});

describe("log-probabilities", () => {
  it("names the likeliest alternatives in order", () => {
    const found = alternatives(row, 3);
    expect(found.map(({ id }) => id)).toEqual([1, 3, 4]);
    expect(found[0]?.logprob).toBeCloseTo(Math.log(0.4), 6);
  });

  it("are finite, and at temperature 1 when greedy", () => {
    expect(Number.isFinite(logOf(0))).toBe(true);
    expect(probabilityTemperature(0)).toBe(1);
    expect(probabilityTemperature(0.7)).toBe(0.7);
  });
});

describe("seededUniform", () => {
  it("repeats itself, and neighbouring seeds are unrelated", () => {
    const first = seededUniform(5);
    const again = seededUniform(5);
    expect([first(), first(), first()]).toEqual([again(), again(), again()]);
    const firsts = Array.from({ length: 2000 }, (_, seed) => seededUniform(seed)());
    const mean = firsts.reduce((a, b) => a + b, 0) / firsts.length;
    const lag = firsts.slice(1).reduce((sum, value, i) => sum + (value - 0.5) * ((firsts[i] ?? 0) - 0.5), 0);
    expect(mean).toBeCloseTo(0.5, 1);
    expect(Math.abs(lag / firsts.length) * 12).toBeLessThan(0.08);
  });

  it("has a stream of its own for each choice, and the request's own for the first", () => {
    expect(choiceSeed(7, 0)).toBe(7);
    expect(choiceSeed(7, 3)).toBe(choiceSeed(7, 3));
    const seeds = new Set<number>();
    for (let seed = -50; seed < 50; seed++)
      for (let choice = 0; choice < 128; choice++) seeds.add(choiceSeed(seed, choice));
    expect(seeds.size).toBe(100 * 128);
    expect([...seeds].every((seed) => Number.isSafeInteger(seed))).toBe(true);
  });

  it("tells seeds apart beyond 32 bits", () => {
    expect(seededUniform(1)()).not.toBe(seededUniform(2 ** 32 + 1)());
  });
});
