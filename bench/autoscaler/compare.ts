import { knative } from "./knative.ts";
import { oracleGpuSeconds } from "./oracle.ts";
import type { NewPolicy } from "./policy.ts";
import { seeded } from "./random.ts";
import { rayServe } from "./ray-serve.ts";
import { SCENARIOS, SLOTS, type Scenario, type Trace } from "./scenarios.ts";
import { simulate, type Conditions, type Outcome } from "./simulate.ts";
import { spotter } from "./spotter.ts";
import { concurrencyOf, type Workload } from "./workload.ts";

export const COLD_START_S = 60;
export const IDLE_TIMEOUT_S = 300;
export const SCALE_DOWN_S = 300;
/** Stock clients give up at 300 s. */
export const HOLD_S = 280;
const HOUR_S = 3_600;

/** One line of the tables: means over the seeds. */
export interface Row {
  name: string;
  lost: number;
  gpuSecondsVsOracle: number;
  score: number;
  scoreKnative: number;
  scoreRay: number;
  /** Changes of the wanted number in a period of the scenario, or in an hour where nothing repeats. */
  actionsPerPeriod: number;
  /** Requests in a hundred that waited more than 30 s or were refused. */
  latePercent: number;
  waitP95S: number;
  gpuSecondsVsOracleKnative: number;
  gpuSecondsVsOracleRay: number;
  latePercentKnative: number;
  latePercentRay: number;
}

interface Measured {
  gpu: number;
  late: number;
  lost: number;
  score: number;
  actions: number;
  waitP95S: number;
}

export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`There is no scenario ${name}`);
  return found;
}

export function compareScenario(
  scenario: Scenario,
  seeds: readonly number[],
  coldStartS = COLD_START_S,
): Row {
  const conditions = { coldStartS, holdS: HOLD_S, initial: 0, ...scenario.conditions };
  return compare(scenario.name, scenario.workload, conditions, 400, seeds, scenario.periodS);
}

/** A trace in which about so many replicas are needed at its highest. */
export function compareTrace(
  trace: Trace,
  replicas: number,
  seeds: readonly number[],
  coldStartS = COLD_START_S,
): Row & { replicas: number } {
  const conditions = { coldStartS, holdS: HOLD_S, initial: Math.ceil(replicas / 5) };
  const workload = (random: ReturnType<typeof seeded>) => trace.workload(replicas, random);
  return { ...compare(trace.name, workload, conditions, 4 * replicas, seeds), replicas };
}

function compare(
  name: string,
  workload: (random: ReturnType<typeof seeded>) => Workload,
  conditions: Conditions,
  max: number,
  seeds: readonly number[],
  periodS = HOUR_S,
): Row {
  const ours: Measured[] = [];
  const knatives: Measured[] = [];
  const rays: Measured[] = [];
  for (const seed of seeds) {
    const made = workload(seeded(seed));
    const oracle = oracleOf(made, conditions);
    const run = (policy: NewPolicy) => measure(policy, made, conditions, max, oracle, periodS);
    ours.push(run(spotter));
    knatives.push(run(knative));
    rays.push(run(rayServe));
  }
  const mean = (all: readonly Measured[], key: keyof Measured) =>
    all.reduce((sum, each) => sum + each[key], 0) / all.length;
  return {
    name,
    lost: mean(ours, "lost"),
    gpuSecondsVsOracle: mean(ours, "gpu"),
    score: mean(ours, "score"),
    scoreKnative: mean(knatives, "score"),
    scoreRay: mean(rays, "score"),
    actionsPerPeriod: mean(ours, "actions"),
    latePercent: 100 * mean(ours, "late"),
    waitP95S: mean(ours, "waitP95S"),
    gpuSecondsVsOracleKnative: mean(knatives, "gpu"),
    gpuSecondsVsOracleRay: mean(rays, "gpu"),
    latePercentKnative: 100 * mean(knatives, "late"),
    latePercentRay: 100 * mean(rays, "late"),
  };
}

function measure(
  policy: NewPolicy,
  workload: Workload,
  conditions: Conditions,
  max: number,
  oracle: number,
  periodS: number,
): Measured {
  const settings = { min: 0, max, target: SLOTS, idleTimeoutS: IDLE_TIMEOUT_S, scaleDownS: SCALE_DOWN_S };
  const outcome = simulate(policy, settings, workload, conditions);
  const gpu = outcome.gpuSeconds / oracle;
  const late = outcome.late / outcome.requests;
  return {
    gpu,
    late,
    lost: outcome.lost,
    score: scoreOf(outcome, oracle),
    // The first period brings it from the first number to its own.
    actions: actionsPerPeriod(outcome, workload.seconds, periodS),
    waitP95S: outcome.waitP95S,
  };
}

/** Lower is better. */
export function scoreOf({ gpuSeconds, late, lost, requests }: Outcome, oracle: number): number {
  return gpuSeconds / oracle + (5 * late) / requests + (100 * lost) / requests;
}

function actionsPerPeriod({ actions }: Outcome, seconds: number, periodS: number): number {
  const periods = seconds / periodS;
  if (periods < 2) return actions.length / periods;
  return actions.filter((second) => second >= periodS).length / (periods - 1);
}

function oracleOf(workload: Workload, { coldStartS, initial, failAfterS }: Conditions): number {
  // Who knows that it will not start has to find it out three times all the same.
  if (failAfterS !== undefined) return 3 * failAfterS;
  return oracleGpuSeconds({
    concurrency: concurrencyOf(workload),
    counts: workload.counts,
    slots: SLOTS,
    coldStartS,
    idleTimeoutS: IDLE_TIMEOUT_S,
    initial,
    min: 0,
  });
}
