import { describe, expect, it } from "vitest";
import {
  MODEL_PRESETS,
  presetOf,
  trainingFault,
  trainingGiB,
} from "../../../../sdk/schema/engines/presets.ts";
import { architectureOf } from "../../../../sdk/schema/engines/slime-plan.ts";

describe("the shape of a training", () => {
  it("takes what Megatron's distributed optimizer takes", () => {
    const shape = { billions: 8, gpu: "H100", gpus: 8, modelParallel: 2, optimizerOnCpu: false } as const;
    expect(trainingGiB(shape)).toBeCloseTo((8e9 / 2 ** 30) * (6 / 2 + 12 / 8), 6);
    expect(trainingFault(shape)).toBeUndefined();
    expect(trainingFault({ ...shape, billions: 32, modelParallel: 1 })?.hint).toContain(
      "tensorModelParallelSize: 8",
    );
    expect(trainingFault({ ...shape, billions: 400, modelParallel: 8 })?.hint).toContain("smaller");
  });

  it("is known for the tutorial's models, with their architectures", () => {
    for (const { names } of MODEL_PRESETS) expect(architectureOf(names[0] ?? ""), names[0]).toBeDefined();
    expect(presetOf("qwen/qwen3-4b")?.billions).toBe(4);
    expect(presetOf("nobody/knows")).toBeUndefined();
  });
});
