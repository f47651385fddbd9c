import { describe, expect, it } from "vitest";
import { pickTarget } from "../../../functions/aliases/pick-target.ts";

const KEYS = Array.from({ length: 10_000 }, (_, n) => `conversation ${n}`);
const targets = (...weights: number[]) => weights.map((weight, n) => ({ model: `m${n}`, weight }));
const shares = (weights: number[]) =>
  weights.map((_, n) => KEYS.filter((key) => pickTarget(targets(...weights), key)?.model === `m${n}`).length);

describe("a split by weight", () => {
  it("has the share of each target's weight, to within the chance of ten thousand draws", () => {
    for (const weights of [
      [90, 10],
      [1, 1],
      [0.5, 0.25, 0.25],
      [1, 0],
    ]) {
      const sum = weights.reduce((a, b) => a + b);
      for (const [n, count] of shares(weights).entries()) {
        const share = (weights[n] ?? 0) / sum;
        const sigma = Math.sqrt(KEYS.length * share * (1 - share));
        expect(Math.abs(count - KEYS.length * share), `${weights.join(":")} #${n}`).toBeLessThanOrEqual(
          4 * sigma,
        );
      }
    }
  });

  it("is the same for the same conversation, whatever the order of the targets", () => {
    const list = targets(3, 2, 1);
    for (const key of KEYS.slice(0, 100))
      expect(pickTarget(list.toReversed(), key)).toEqual(pickTarget(list, key));
  });

  it("moves nobody between targets whose weights stay", () => {
    for (const key of KEYS.slice(0, 2_000)) {
      const before = pickTarget(targets(50, 30, 20), key)?.model;
      const after = pickTarget(targets(50, 30, 40), key)?.model;
      if (after !== before) expect(after).toBe("m2");
    }
  });

  it("leads to the only target, and to none where all weights are 0", () => {
    expect(pickTarget(targets(0), "x")?.model).toBe("m0");
    expect(pickTarget(targets(0, 0), "x")).toBeUndefined();
  });
});
