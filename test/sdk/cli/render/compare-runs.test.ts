import { describe, expect, it } from "vitest";
import { compareRuns } from "../../../../sdk/cli/render/compare-runs.ts";
import type { RunSpec } from "../../../../sdk/schema/run-spec.ts";
import { runDetailOf, runRecord } from "../../records.ts";

const { spec } = runDetailOf();

function run(changes: Partial<RunSpec>, metrics: Record<string, number> = {}) {
  return { record: runRecord({ metrics }), spec: { ...spec, ...changes } };
}

describe("runs side by side", () => {
  it("show the settings that differ, each by its path, and no others", () => {
    const trainer = { ...spec.trainer, learningRate: 5e-4, saveEvery: 20 };
    const { settings } = compareRuns([run({}), run({ trainer, seed: 3, name: "b", tags: ["x"] })]);
    expect(settings).toEqual([
      { name: "trainer.learningRate", values: [2e-4, 5e-4] },
      { name: "seed", values: [0, 3] },
      { name: "trainer.saveEvery", values: [undefined, 20] },
    ]);
  });

  it("take a list for one value", () => {
    const lora = (targets: ("q_proj" | "v_proj")[]) => run({ adapter: { kind: "lora", rank: 8, targets } });
    const { settings } = compareRuns([lora(["q_proj"]), lora(["q_proj", "v_proj"])]);
    expect(settings).toEqual([{ name: "adapter.targets", values: [["q_proj"], ["q_proj", "v_proj"]] }]);
  });

  it("show the figures of all, and where one has none", () => {
    const { metrics } = compareRuns([run({}, { loss: 1 }), run({}, { loss: 2, kl: 0.1 })]);
    expect(metrics).toEqual([
      { name: "loss", values: [1, 2] },
      { name: "kl", values: [undefined, 0.1] },
    ]);
  });
});
