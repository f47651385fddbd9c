import { describe, expect, it } from "vitest";
import { nucleusCut, walkNucleus } from "../../../../engine/onnx/sample/nucleus.ts";
import { seededUniform } from "../../../../engine/onnx/sample/seeded.ts";

const uniform = seededUniform(9);

/** Normalised; some far from each other, some equal, some 0. */
function randomRow(length: number): Float32Array {
  const row = Float32Array.from({ length }, () => Math.floor(uniform() * 6) * 10 ** (-4 * uniform()));
  const total = row.reduce((a, b) => a + b, 0);
  return row.map((value) => value / total);
}

function sorted(row: Float32Array): number[] {
  return [...row.keys()].sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0) || a - b);
}

describe("nucleusCut", () => {
  it("keeps what sorting everything keeps", () => {
    for (let round = 0; round < 200; round++) {
      const row = randomRow(1 + Math.floor(uniform() * 300));
      const mass = uniform();
      let reached = 0;
      const ranked = sorted(row);
      const kept = ranked.slice(0, ranked.findIndex((id) => (reached += row[id] ?? 0) >= mass) + 1);
      const cut = nucleusCut(row, mass);
      const found = [...row.keys()].filter(
        (id) => cut && ((row[id] ?? 0) > cut.value || (row[id] === cut.value && id <= cut.lastId)),
      );
      expect(found).toEqual(kept.sort((a, b) => a - b));
      expect(cut?.mass).toBeCloseTo(reached, 10);
    }
  });

  it("says so where all together are not enough", () => {
    expect(nucleusCut(Float32Array.of(0.5, 0.25), 0.9)).toBeUndefined();
  });
});

describe("walkNucleus", () => {
  it("goes through what is kept, in proportion", () => {
    const row = Float32Array.of(0.125, 0.25, 0.125, 0.5);
    const cut = nucleusCut(row, 0.8);
    if (cut === undefined) throw new Error("no cut");
    const at = (uniform: number): number => walkNucleus(row, cut, uniform * cut.mass);
    const mass = 0.125 + 0.25 + 0.5;
    expect([0, 0.124 / mass, 0.126 / mass, 0.374 / mass, 0.376 / mass, 0.999].map(at)).toEqual([
      0, 0, 1, 1, 3, 3,
    ]);
  });
});
