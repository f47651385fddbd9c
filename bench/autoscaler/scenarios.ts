import type { Conditions } from "./simulate.ts";
import type { Random } from "./random.ts";
import { fromCounts, workloadOf, type Workload } from "./workload.ts";

export interface Scenario {
  name: string;
  /** Traffic that never stops and does not fall faster than the shared scale-down delay lets anybody follow. */
  isDense: boolean;
  /** Length of what repeats, for counting actions. */
  periodS?: number;
  conditions: Partial<Conditions>;
  workload: (random: Random) => Workload;
}

const SERVICE_S = 20;
export const SLOTS = 8;
const HOUR_S = 3_600;

/** Requests a second that keep so many replicas full. */
function rateFor(replicas: number, serviceS = SERVICE_S): number {
  return (replicas * SLOTS) / serviceS;
}

const duration = (random: Random) => random.exponential(SERVICE_S);

function steady(replicas: number): (random: Random) => Workload {
  return (random) => workloadOf({ seconds: HOUR_S, rate: () => rateFor(replicas), duration, random });
}

/** One request every so often. */
function sparse(everyS: number, seconds: number): () => Workload {
  return () =>
    fromCounts(
      Int32Array.from({ length: seconds }, (_, second) => (second % everyS === 30 ? 1 : 0)),
      () => SERVICE_S,
    );
}

/** The scenarios of the specification; the sparse one runs at both of its rates. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "step-0-to-50",
    isDense: true,
    conditions: { initial: 0 },
    workload: (random) =>
      workloadOf({ seconds: HOUR_S, rate: (s) => (s < 60 ? 0 : rateFor(50)), duration, random }),
  },
  {
    name: "ramp",
    isDense: true,
    conditions: { initial: 1 },
    workload: (random) =>
      workloadOf({
        seconds: HOUR_S,
        rate: (s) => rateFor(1 + 49 * Math.min(1, s / 1_800)),
        duration,
        random,
      }),
  },
  {
    name: "sawtooth",
    isDense: false,
    periodS: 300,
    conditions: { initial: 2 },
    workload: (random) =>
      workloadOf({ seconds: 2 * HOUR_S, rate: (s) => rateFor(2 + 18 * ((s % 300) / 300)), duration, random }),
  },
  {
    name: "sparse-4-min",
    isDense: false,
    periodS: 240,
    conditions: { initial: 1 },
    workload: sparse(240, 4 * HOUR_S),
  },
  {
    name: "sparse-10-min",
    isDense: false,
    periodS: 600,
    conditions: { initial: 0 },
    workload: sparse(600, 6 * HOUR_S),
  },
  {
    name: "short-requests",
    isDense: true,
    conditions: { initial: 1 },
    workload: (random) => workloadOf({ seconds: HOUR_S, rate: () => 5, duration: () => 0.02, random }),
  },
  {
    name: "long-stream",
    isDense: false,
    conditions: { initial: 5 },
    workload() {
      // Two requests a second keep five replicas exactly full for ten minutes; one of them is the stream.
      const counts = Int32Array.from({ length: HOUR_S }, (_, second) => (second < 600 ? 2 : 0));
      let index = 0;
      return fromCounts(counts, () => (index++ === 600 ? 1_800 : SERVICE_S));
    },
  },
  {
    name: "replica-crash",
    isDense: true,
    conditions: { initial: 10, crashes: [1_200, 2_400] },
    workload: steady(10),
  },
  {
    name: "start-failure",
    isDense: false,
    conditions: { initial: 0, failAfterS: 20 },
    workload: (random) => workloadOf({ seconds: 600, rate: () => 0.5, duration, random }),
  },
  {
    name: "capacity-drought",
    isDense: false,
    conditions: { initial: 5, drought: [240, 1_440] },
    workload: (random) =>
      workloadOf({ seconds: HOUR_S, rate: (s) => rateFor(s < 300 ? 3 : 10), duration, random }),
  },
  {
    name: "controller-restart",
    isDense: true,
    conditions: { initial: 20, restarts: [1_200, 2_400] },
    workload: steady(20),
  },
  {
    name: "clock-jump",
    isDense: true,
    conditions: {
      initial: 10,
      jumps: [
        { atS: 1_200, byS: 3_600 },
        { atS: 2_400, byS: -3_600 },
      ],
    },
    workload: steady(10),
  },
  {
    name: "metrics-gap",
    isDense: true,
    conditions: { initial: 10, gap: [1_200, 1_290] },
    workload: steady(10),
  },
];

export interface Trace {
  name: string;
  workload: (replicas: number, random: Random) => Workload;
}

const TRACE_S = 4 * HOUR_S;

/** A day in four hours: a smooth wave, its noise, and sudden spikes of a few minutes. */
function diurnal(replicas: number, random: Random): Workload {
  const spikes = Array.from({ length: 6 }, () => ({
    atS: Math.floor(random.uniform() * TRACE_S),
    forS: 60 + Math.floor(random.uniform() * 240),
    by: 0.2 + 0.3 * random.uniform(),
  }));
  const rate = (s: number) => {
    const wave = 0.15 + 0.55 * Math.sin((Math.PI * s) / TRACE_S) ** 2;
    const extra = spikes.filter(({ atS, forS }) => s >= atS && s < atS + forS).map(({ by }) => by);
    return rateFor(replicas * (wave + Math.max(0, ...extra)));
  };
  return workloadOf({ seconds: TRACE_S, rate, duration, random });
}

/** Service times from seconds to an hour, and a rate that wanders. */
function heavyTailed(replicas: number, random: Random): Workload {
  const sigma = 1.5;
  const mean = Math.log(SERVICE_S) - sigma ** 2 / 2;
  let wander = 0;
  const rates = Float64Array.from({ length: TRACE_S }, () => {
    wander = wander * (1 - 1 / 600) + 0.3 * Math.sqrt(2 / 600) * random.normal();
    return rateFor(replicas * 0.5 * Math.exp(wander));
  });
  return workloadOf({
    seconds: TRACE_S,
    rate: (s) => rates[s] ?? 0,
    duration: (each) => Math.min(3_600, Math.exp(mean + sigma * each.normal())),
    random,
  });
}

export const TRACES: readonly Trace[] = [
  { name: "diurnal", workload: diurnal },
  { name: "heavy-tailed", workload: heavyTailed },
];
