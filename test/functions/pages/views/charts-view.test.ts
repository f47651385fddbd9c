import { describe, expect, it } from "vitest";
import {
  chartColumns,
  chartsView,
  describeSeries,
  planCharts,
} from "../../../../functions/pages/views/charts-view.ts";
import { createRunModel } from "../../../../functions/pages/views/run-model.ts";

describe("charts", () => {
  it("put reward and loss first, with what was evaluated beside them", () => {
    const { main, rest } = planCharts(["lr", "loss", "eval/reward/mean", "reward/mean", "grad_norm"]);
    expect(main).toEqual([
      { title: "Reward", metrics: ["reward/mean", "eval/reward/mean"] },
      { title: "Loss", metrics: ["loss"] },
    ]);
    expect(rest.map(({ title }) => title)).toEqual(["grad norm", "lr"]);
    expect(planCharts([])).toEqual({ main: [], evaluation: [], rest: [] });
  });

  it("put what evals of the checkpoints log under Evaluation (A26-A32 i)", () => {
    const names = ["MATH_pass8", "GSM8K_pass1", "MATH_pass1", "MATH_pass16", "haiku_reward"];
    const { evaluation, rest } = planCharts([...names, "reward/form_reward", "eval/reward/x_pass1", "lr"]);
    expect(evaluation.map(({ title }) => title)).toEqual([
      ...["GSM8K_pass1", "haiku_reward", "MATH_pass1", "MATH_pass8", "MATH_pass16"],
    ]);
    expect(rest).toHaveLength(3);
    const model = createRunModel();
    for (const name of names) model.series.set(name, { steps: [50], values: [0.5] });
    const html = String(chartsView(model));
    expect(html).toContain('<h3 id="evaluation">Evaluation</h3>');
    expect(html).toContain(">MATH_pass8<");
  });

  it("begin with the distance from the teacher where there is one", () => {
    const { main } = planCharts(["loss", "reward/mean", "eval/reverse_kl", "reverse_kl"]);
    expect(main[0]).toEqual({ title: "Reverse KL", metrics: ["reverse_kl", "eval/reverse_kl"] });
    expect(main.map(({ title }) => title)).toEqual(["Reverse KL", "Reward", "Loss"]);
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
