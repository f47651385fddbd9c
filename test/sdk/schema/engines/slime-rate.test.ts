import { describe, expect, it } from "vitest";
import { rateFaults, rateWarnings } from "../../../../sdk/schema/engines/slime-rate.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import { planned, recipe } from "./planned.ts";

const at = (learningRate: number | undefined, changes: Partial<RunSpecInput> = {}, slime = {}) =>
  planned({ trainer: { steps: 1, ...(learningRate !== undefined && { learningRate }) }, ...changes }, slime);

describe("the rate at which slime learns all weights", () => {
  it("is refused where it is that of recipes and the model is large, or unknown", () => {
    expect(rateFaults(at(undefined))).toEqual([
      {
        where: "trainer.learningRate",
        message: "is 0.0002, which ruins a large model where all weights are trained, as slime does",
        hint: "Give the recipe a learningRate: 0.000001 is usual for rl. If it is meant: slime: { lr: 0.0002 }.",
      },
    ]);
    expect(rateFaults(at(1e-4, { model: { name: "acme/novel" } }))).toHaveLength(1);
    const sft = { kind: "sft", algorithm: { kind: "sft" }, rewards: undefined } as const;
    expect(rateFaults(at(undefined, sft))[0]?.hint).toContain("0.00001 is usual for sft");
  });

  it("is asked about where the model is small", () => {
    const small = at(undefined, { model: { name: "Qwen/Qwen3-0.6B" } });
    expect(rateFaults(small)).toEqual([]);
    expect(rateWarnings(small)).toHaveLength(1);
    expect(rateWarnings(at(undefined))).toEqual([]);
  });

  it("is what slime itself is told, or what is low", () => {
    const meant = [at(9e-5), at(2e-4, {}, { lr: 2e-4 }), at(2e-4, {}, { flags: { lr: 2e-4 } }), recipe({})];
    for (const spec of meant) expect([...rateFaults(spec), ...rateWarnings(spec)]).toEqual([]);
  });
});
