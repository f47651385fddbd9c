import uPlot from "uplot";
import { chartColumns } from "../views/charts-view.ts";
import { numberText } from "../views/format.ts";
import type { RunModel } from "../views/run-model.ts";

interface Chart {
  plot: uPlot;
  metrics: string[];
  /** Of the model, when it was last drawn. */
  revision: number;
  sizes: ResizeObserver;
}

/** Draws into every `.plot` of the page and keeps the drawings current. */
export function createCharts(root: HTMLElement, model: RunModel): { draw(): void } {
  const charts = new Map<HTMLElement, Chart>();

  function draw(): void {
    for (const [place, { plot, sizes }] of charts) {
      if (place.isConnected) continue;
      sizes.disconnect();
      plot.destroy();
      charts.delete(place);
    }
    for (const place of root.querySelectorAll<HTMLElement>(".plot")) {
      const known = charts.get(place);
      if (known === undefined) charts.set(place, create(place, model));
      else if (known.revision !== model.revision) {
        known.revision = model.revision;
        known.plot.setData(chartColumns(model, known.metrics));
      }
    }
  }

  // Canvases do not follow the style sheet by themselves.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { plot, sizes } of charts.values()) {
      sizes.disconnect();
      plot.destroy();
    }
    charts.clear();
    draw();
  });
  return { draw };
}

function create(place: HTMLElement, model: RunModel): Chart {
  const metrics = JSON.parse(place.dataset["metrics"] ?? "[]") as string[];
  const readout = place.ownerDocument.createElement("p");
  readout.className = "readout number";
  readout.ariaHidden = "true";
  const color = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color("--mute"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      ...sizeOf(place),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: rangeOf } },
      axes: [
        {
          ...axis,
          size: 22,
          gap: 2,
          grid: { show: false },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000],
        },
        {
          ...axis,
          size: 50,
          gap: 4,
          space: 26,
          values: (_plot, ticks) => ticks.map((tick) => numberText(tick)),
        },
      ],
      series: [
        {},
        ...metrics.map((_, index): uPlot.Series => ({
          stroke: index === 0 ? color("--accent") : color("--ink"),
          width: 1.5,
          spanGaps: true,
          // A line of one value would not show.
          points: { show: (self) => self.data[0].length === 1, size: 5 },
          ...(index > 0 && { dash: [4, 4] }),
        })),
      ],
      hooks: { setCursor: [(self) => (readout.textContent = readoutText(self))] },
    },
    chartColumns(model, metrics),
    place,
  );
  place.append(readout);
  const sizes = new ResizeObserver(() => plot.setSize(sizeOf(place)));
  sizes.observe(place);
  return { plot, metrics, sizes, revision: model.revision };
}

/** uPlot's own choice, but for a flat line: that lies in the middle, and not at the foot of 0 to 100. */
function rangeOf(_plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  if (low !== high) return uPlot.rangeNum(low, high, 0.1, true);
  const room = low === 0 ? 1 : Math.abs(low) / 2;
  return [low - room, high + room];
}

function sizeOf(place: HTMLElement): { width: number; height: number } {
  return { width: Math.max(60, place.clientWidth), height: Math.max(60, place.clientHeight) };
}

function readoutText({ cursor: { idx }, data }: uPlot): string {
  if (idx === null || idx === undefined) return "";
  const values = data.slice(1).flatMap((column) => {
    const value = column[idx];
    return value === null || value === undefined ? [] : [numberText(value)];
  });
  return `step ${data[0][idx] ?? ""}: ${values.join(" / ")}`;
}
