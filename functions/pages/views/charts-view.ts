import { numberText } from "./format.ts";
import { h, type View } from "./h.ts";
import type { RunModel, Series } from "./run-model.ts";

/** A chart: one metric, or one with what was evaluated beside it. */
export interface ChartPlan {
  title: string;
  /** Names of metrics; the first one is the line that counts. */
  metrics: string[];
}

/** What evals of the run's checkpoints log: `<name>_pass4`, `<name>_reward`. */
const EVALUATED = /^(?!(?:eval\/)?reward\/).+_(?:pass\d+|reward)$/;

export interface ChartPlans {
  main: ChartPlan[];
  evaluation: ChartPlan[];
  rest: ChartPlan[];
}

/** The curves that everybody looks at first, those of evals, and the rest by name. */
export function planCharts(names: readonly string[]): ChartPlans {
  const left = new Set(names);
  const take = (title: string, wanted: string[]): ChartPlan[] => {
    const metrics = wanted.filter((name) => left.delete(name));
    return metrics.length === 0 ? [] : [{ title, metrics }];
  };
  const main = [
    // Of a distillation: how far the student is from its teacher.
    ...take("Reverse KL", ["reverse_kl", "eval/reverse_kl"]),
    ...take("Forward KL", ["forward_kl"]),
    ...take("Reward", ["reward/mean", "eval/reward/mean"]),
    ...take("Loss", ["loss", "eval/loss"]),
  ];
  const evaluation = [...left].filter((name) => EVALUATED.test(name)).sort(byNumber);
  for (const name of evaluation) left.delete(name);
  const rest = [...left]
    .sort()
    .map((name): ChartPlan => ({ title: name.replaceAll("_", " "), metrics: [name] }));
  return { main, evaluation: evaluation.map((name) => ({ title: name, metrics: [name] })), rest };
}

/** pass4 before pass16. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** Columns for uPlot: the steps of all metrics, then a value or null for each metric and step. */
export function chartColumns(
  model: RunModel,
  metrics: readonly string[],
): [number[], ...(number | null)[][]] {
  const all = metrics.map((name): Series => model.series.get(name) ?? { steps: [], values: [] });
  const steps = [...new Set(all.flatMap((series) => series.steps))].sort((a, b) => a - b);
  const rowOf = new Map(steps.map((step, row) => [step, row]));
  const columns = all.map((series) => {
    const column = Array<number | null>(steps.length).fill(null);
    series.steps.forEach((step, index) => (column[rowOf.get(step) ?? 0] = series.values[index] ?? null));
    return column;
  });
  return [steps, ...columns];
}

/** The places for the charts; the script draws into them. What a line shows is said in words as well. */
export function chartsView(model: RunModel): View {
  const { main, evaluation, rest } = planCharts([...model.series.keys()]);
  if (main.length + evaluation.length + rest.length === 0)
    return h("p", { class: "mute" }, "Curves begin with the first finished step.");
  return h(
    "div",
    null,
    h("div", { class: "charts main" }, ...main.map((plan) => chartView(model, plan))),
    evaluation.length === 0
      ? null
      : h(
          "section",
          { class: "evaluation", "aria-labelledby": "evaluation" },
          h("h3", { id: "evaluation" }, "Evaluation"),
          h("div", { class: "charts small" }, ...evaluation.map((plan) => chartView(model, plan))),
        ),
    rest.length === 0
      ? null
      : h(
          "details",
          { class: "more" },
          h("summary", null, `All metrics (${rest.length})`),
          h("div", { class: "charts small" }, ...rest.map((plan) => chartView(model, plan))),
        ),
  );
}

function chartView(model: RunModel, { title, metrics }: ChartPlan): View {
  const [first = ""] = metrics;
  const series = model.series.get(first);
  const last = series?.values.at(-1);
  return h(
    "figure",
    { key: title },
    h(
      "figcaption",
      null,
      h("span", { class: "chart-title" }, title),
      h("span", { class: "number" }, last === undefined ? "" : numberText(last)),
      metrics.length > 1 ? h("span", { class: "mute" }, "dashed: evaluated") : null,
    ),
    h("div", {
      class: "plot",
      role: "img",
      "aria-label": describeSeries(title, series),
      "data-metrics": JSON.stringify(metrics),
      "data-points": series?.steps.length ?? 0,
    }),
  );
}

/** A curve in a sentence, for those who do not see it. */
export function describeSeries(title: string, series: Series | undefined): string {
  const first = series?.values[0];
  const last = series?.values.at(-1);
  if (series === undefined || first === undefined || last === undefined) return `${title}: no value yet`;
  const low = numberText(series.values.reduce((a, b) => Math.min(a, b)));
  const high = numberText(series.values.reduce((a, b) => Math.max(a, b)));
  return `${title} from step ${series.steps[0] ?? 0} to ${series.steps.at(-1) ?? 0}: begins at ${numberText(first)}, now ${numberText(last)}, lowest ${low}, highest ${high}`;
}
