/**
 * The autoscaler against the formulas of Knative and Ray Serve, in a simulator: the scenarios that must not
 * lose a request, and two generated traces at 10 to 10,000 replicas. docs/autoscaling.md says what is counted.
 */
import {
  COLD_START_S,
  compareScenario,
  compareTrace,
  HOLD_S,
  IDLE_TIMEOUT_S,
  SCALE_DOWN_S,
  type Row,
} from "./autoscaler/compare.ts";
import { SCENARIOS, TRACES } from "./autoscaler/scenarios.ts";
import type { FigureRow, Figures } from "./figures.ts";

const SEEDS = [1, 2, 3, 4, 5];
/** Noise shrinks with the number of requests, and time grows. */
const SEEDS_OF_SCALE: readonly (readonly [replicas: number, seeds: number])[] = [
  [10, 5],
  [100, 5],
  [1_000, 3],
  [10_000, 1],
];

export async function run(log: (line: string) => void): Promise<Figures> {
  const scenarios: FigureRow[] = [];
  for (const scenario of SCENARIOS) {
    const row = compareScenario(scenario, SEEDS);
    log(lineOf(scenario.name, row));
    scenarios.push({ ...rounded(row), dense: scenario.isDense ? "yes" : "no" });
  }
  const traces: FigureRow[] = [];
  for (const trace of TRACES) {
    for (const [replicas, seeds] of SEEDS_OF_SCALE) {
      const row = compareTrace(trace, replicas, SEEDS.slice(0, seeds));
      log(lineOf(`${trace.name}, ${replicas} replicas`, row));
      traces.push(rounded(row));
    }
  }
  const notes = [
    `cold start ${COLD_START_S} s, idle timeout ${IDLE_TIMEOUT_S} s, scale-down delay ${SCALE_DOWN_S} s and hold ${HOLD_S} s for all; means over ${SEEDS.length} seeds (traces: ${SEEDS_OF_SCALE.map(([replicas, seeds]) => `${seeds} at ${replicas}`).join(", ")})`,
    "actionsPerPeriod: in a period of the scenario, or in an hour where nothing repeats",
  ];
  return { scenarios, traces, notes };
}

function rounded(row: Row): FigureRow {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]: [string, string | number]) => [
      key,
      typeof value === "number" ? Number(value.toFixed(4)) : value,
    ]),
  );
}

function lineOf(name: string, { score, scoreKnative, scoreRay, gpuSecondsVsOracle }: Row): string {
  const scores = `${score.toFixed(3)} (Knative ${scoreKnative.toFixed(3)}, Ray Serve ${scoreRay.toFixed(3)})`;
  return `${name}: score ${scores}, ${gpuSecondsVsOracle.toFixed(2)} of the oracle's GPU-seconds`;
}
