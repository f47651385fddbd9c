import { describe, expect, it } from "vitest";
import { launchEval } from "../../../sdk/schema/launch-eval.ts";
import { parseWith } from "../../../sdk/schema/parse.ts";
import { answersPerRow, changedPasses, passAtK, sampleGroups } from "../../../sdk/schema/pass-at.ts";

/** 1 - C(n-c, k) / C(n, k), as it is written. */
function asWritten(n: number, correct: number, k: number): number {
  const choose = (from: number, of: number): number =>
    of < 0 || of > from ? 0 : of === 0 ? 1 : (choose(from - 1, of - 1) * from) / of;
  return 1 - choose(n - correct, k) / choose(n, k);
}

const sha256 = "0".repeat(64);
const input = { endpoint: "nano", dataset: { sha256, rows: 3 }, rewards: { code: { sha256 } } };

describe("pass@k", () => {
  it("is the unbiased estimate, for every n, c and k up to 12", () => {
    for (let n = 1; n <= 12; n++)
      for (let correct = 0; correct <= n; correct++)
        for (let k = 1; k <= n; k++) expect(passAtK(n, correct, k)).toBeCloseTo(asWritten(n, correct, k), 12);
  });

  it("is refused where there are fewer answers than k, and where a k comes twice", () => {
    const parse = (more: object) => parseWith(launchEval, { ...input, ...more }, "Eval");
    expect(() => parse({ samplesPerRow: 4, passAt: [{ k: 1 }, { k: 8 }] })).toThrow(
      /samplesPerRow: is less than a k of passAt: pass@k needs at least k answers to each row/,
    );
    expect(() => parse({ samplesPerRow: 4, passAt: [{ k: 4 }, { k: 4, temperature: 1 }] })).toThrow(
      /passAt: names a k twice/,
    );
    expect(parse({ samplesPerRow: 8, passAt: [{ k: 8 }] })).toMatchObject({ passThreshold: 1 });
  });

  it("samples once for each temperature, and no more than needed at 0", () => {
    const spec = {
      samplesPerRow: 8,
      passAt: [
        { k: 8, temperature: 1 },
        { k: 1, temperature: 0 },
        { k: 4, temperature: 1 },
      ],
    };
    expect(sampleGroups(spec)).toEqual([
      { temperature: 0, ks: [1], first: 0, samples: 1 },
      { temperature: 1, ks: [4, 8], first: 1, samples: 8 },
    ]);
    expect(answersPerRow(spec)).toBe(9);
    expect(sampleGroups({ samplesPerRow: 3, passAt: [] })).toEqual([{ ks: [], first: 0, samples: 3 }]);
  });

  it("of a run-dependent eval is the eval's own but for what is changed", () => {
    const own = [{ k: 1, temperature: 0 }, { k: 8 }];
    expect(changedPasses(own, [])).toEqual(own);
    expect(
      changedPasses(own, [
        { k: 1, temperature: 0.5 },
        { k: 4, enabled: true },
        { k: 8, enabled: false },
      ]),
    ).toEqual([{ k: 1, temperature: 0.5 }, { k: 4 }]);
    expect(changedPasses(own, [{ k: 4, temperature: 1 }])).toEqual(own);
  });
});
