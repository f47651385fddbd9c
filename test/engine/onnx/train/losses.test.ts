import { describe, expect, it } from "vitest";
import type { TrainBatch } from "../../../../engine/onnx/engine-api.ts";
import { klOf } from "../../../../engine/onnx/train/loss-metrics.ts";
import { checkBatch, divisors } from "../../../../engine/onnx/train/losses.ts";
import { objectiveShape } from "../../../../engine/onnx/train/objective-shape.ts";
import { batch, sequence } from "../support/batches.ts";
import { expectError } from "../support/errors.ts";

const old = { ...sequence([3, 17, 8]), oldLogprobs: [0, -1, -2] };

describe("a training batch", () => {
  it.each<[Partial<TrainBatch>, string]>([
    [{ loss: "importance_sampling" }, "sequences[0].oldLogprobs"],
    [{ loss: "dppo" }, "sequences[0].oldLogprobs"],
    [{ normalizer: 0 }, "normalizer"],
    [{ ratio: "sequence" }, "ratio"],
    [{ loss: "dppo", ratio: "sequence", sequences: [old] }, "ratio"],
    [{ loss: "ppo", importanceCap: 2, sequences: [old] }, "sequences[0].samplerLogprobs"],
    [
      { loss: "ppo", importanceCap: 2, sequences: [{ ...old, samplerLogprobs: [0, 0, NaN] }] },
      "sequences[0].samplerLogprobs[2]",
    ],
  ])("that does not fit its loss is refused: %j", async (change, where) => {
    await expectError(() => Promise.resolve(checkBatch(batch(change))), "invalid_input", where);
  });

  it.each<[TrainBatch["normalizer"], number[]]>([
    [undefined, [4, 4, 4]],
    ["token", [4, 4, 4]],
    // Two sequences have something to learn; the third has no term that would be divided.
    ["sequence", [2 * 3, 2 * 1, 0]],
    [50, [50, 50, 50]],
  ])("is divided by what its normaliser says: %s", (normalizer, expected) => {
    const sequences = [sequence([1, 2, 3, 4, 5]), sequence([1, 2, 3]), sequence([1, 2])];
    expect(divisors(batch({ sequences, ...(normalizer !== undefined && { normalizer }) }))).toEqual(expected);
  });

  it("takes the graph it always took unless a term needs another", () => {
    const plain = { trust: "clip", ratio: "token", kl: "k3", klWeight: "shared", entropy: false };
    expect(objectiveShape(batch())).toEqual(plain);
    for (const loss of ["ppo", "importance_sampling"] as const)
      expect(objectiveShape(batch({ loss, klCoef: 0.1, normalizer: 50 }))).toEqual(plain);
    expect(objectiveShape(batch({ klCoef: 0, klEstimator: "k1", normalizer: "sequence" }))).toEqual(plain);
  });
});

describe("an estimate of the divergence", () => {
  it("is the mean over what the policy samples, for k1 and k3", () => {
    const [policy, other] = [
      [0.7, 0.2, 0.1],
      [0.5, 0.1, 0.4],
    ];
    const mean = (estimator: "k1" | "k2" | "k3"): number =>
      policy.reduce((sum, p, i) => sum + p * klOf(Math.log((other[i] ?? 0) / p), estimator), 0);
    const exact = policy.reduce((sum, p, i) => sum + p * Math.log(p / (other[i] ?? 0)), 0);
    expect(mean("k1")).toBeCloseTo(exact, 12);
    expect(mean("k3")).toBeCloseTo(exact, 12);
    expect(mean("k2")).toBeGreaterThan(0);
    expect(klOf(0.4, "k2")).toBeCloseTo(0.08, 12);
  });
});
