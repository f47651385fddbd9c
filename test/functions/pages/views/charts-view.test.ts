import { describe, expect, it } from "vitest";
import { chartColumns, describeSeries, planCharts } from "../../../../functions/pages/views/charts-view.ts";
import { createRunModel } from "../../../../functions/pages/views/run-model.ts";

describe("charts", () => {
  it("put reward and loss first, with what was evaluated beside them", () => {
    const { main, rest } = planCharts(["lr", "loss", "eval/reward/mean", "reward/mean", "grad_norm"]);
    expect(main).toEqual([
      { title: "Reward", metrics: ["reward/mean", "eval/reward/mean"] },
      { title: "Loss", metrics: ["loss"] },
    ]);
    expect(rest.map(({ title }) => title)).toEqual(["grad norm", "lr"]);
    expect(planCharts([])).toEqual({ main: [], rest: [] });
  });

  it("align metrics that were measured at different steps", () => {
    const model = createRunModel();
    model.series.set("a", { steps: [1, 2, 4], values: [10, 20, 40] });
    model.series.set("b", { steps: [2, 3], values: [2, 3] });
    expect(chartColumns(model, ["a", "b", "none"])).toEqual([
      [1, 2, 3, 4],
      [10, 20, null, 40],
      [null, 2, 3, null],
      [null, null, null, null],
    ]);
  });

  it("say in words what they show", () => {
    expect(describeSeries("Loss", { steps: [1, 2, 3], values: [2, 0.5, 1] })).toBe(
      "Loss from step 1 to 3: begins at 2, now 1, lowest 0.5, highest 2",
    );
    expect(describeSeries("Loss", undefined)).toBe("Loss: no value yet");
  });
});
