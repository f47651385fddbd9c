import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scoreOf } from "../../../bench/autoscaler/compare.ts";
import { Fleet } from "../../../bench/autoscaler/fleet.ts";
import { knative } from "../../../bench/autoscaler/knative.ts";
import { oracleGpuSeconds } from "../../../bench/autoscaler/oracle.ts";
import type { NewPolicy, Policy } from "../../../bench/autoscaler/policy.ts";
import { seeded } from "../../../bench/autoscaler/random.ts";
import { rayServe } from "../../../bench/autoscaler/ray-serve.ts";
import { simulate } from "../../../bench/autoscaler/simulate.ts";
import { concurrencyOf, fromCounts, workloadOf } from "../../../bench/autoscaler/workload.ts";

const SETTINGS = { min: 0, max: 100, target: 8, idleTimeoutS: 300, scaleDownS: 300 };
const CONDITIONS = { coldStartS: 60, holdS: 280, initial: 0 };

function oracle(levels: readonly (readonly [seconds: number, slots: number])[], initial = 0): number {
  const concurrency = Float64Array.from(
    levels.flatMap(([seconds, slots]) => Array.from({ length: seconds }, () => slots)),
  );
  const counts = Int32Array.from(concurrency, (slots) => (slots > 0 ? 1 : 0));
  return oracleGpuSeconds({
    concurrency,
    counts,
    slots: 8,
    coldStartS: 60,
    idleTimeoutS: 300,
    initial,
    min: 0,
  });
}

describe("the oracle", () => {
  it("pays for a cold start and for what is needed", () => {
    expect(oracle([[100, 16]])).toBe(2 * (60 + 100));
    expect(oracle([[100, 9]], 2)).toBe(200);
  });

  it("keeps a replica over a gap that is shorter than a start, and stops it over a longer one", () => {
    const gap = (seconds: number) => oracle([[100, 16], [seconds, 8], [100, 16]], 2); // prettier-ignore
    expect(gap(30)).toBe(2 * 230);
    expect(gap(500)).toBe(700 + 100 + 60 + 100);
  });

  it("sleeps after the idle timeout, and wakes in time", () => {
    expect(oracle([[100, 1], [1_000, 0], [100, 1]], 1)).toBe(100 + 299 + 60 + 100 + 0); // prettier-ignore
    expect(oracle([[100, 1], [50, 0]], 1)).toBe(150); // prettier-ignore
  });
});

describe("the fleet", () => {
  it("gives a request to the least loaded, and drains before it ends", () => {
    const fleet = new Fleet(2);
    fleet.launch(0, 0, true);
    fleet.launch(0, 0, true);
    fleet.arrive(0, false);
    expect([fleet.start(0, 10), fleet.start(0, 20), fleet.freeSlots()]).toEqual([true, true, 2]);
    fleet.retire(2);
    expect([fleet.ready, fleet.draining, fleet.paid, fleet.start(0, 5)]).toEqual([0, 2, 2, false]);
    fleet.finish(10);
    expect([fleet.draining, fleet.finished]).toEqual([1, 1]);
    fleet.finish(20);
    expect([fleet.paid, fleet.inFlight, fleet.finished]).toEqual([0, 0, 2]);
  });

  it("ends requests that take longer than the wheel is round", () => {
    const fleet = new Fleet(1);
    fleet.launch(0, 0, true);
    fleet.arrive(0, false);
    fleet.start(0, 10_000);
    for (let second = 1; second < 10_000; second++) fleet.finish(second);
    expect(fleet.inFlight).toBe(1);
    fleet.finish(10_000);
    expect(fleet.inFlight).toBe(0);
  });
});

describe("the simulation", () => {
  it("accounts for every request, whatever a policy does", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.nat(30), { minLength: 5 }),
        (seed, wants) => {
          const wild: NewPolicy = () => ({
            step: ({ monotonicMs }) => wants[((monotonicMs / 7_000) % wants.length) | 0] ?? 0,
          });
          const workload = workloadOf({
            seconds: 600,
            rate: () => 3,
            duration: (random) => random.exponential(30),
            random: seeded(seed),
          });
          const outcome = simulate(wild, SETTINGS, workload, { ...CONDITIONS, crashes: [100, 200, 300] });
          expect(outcome.lost).toBe(0);
          expect(outcome.late).toBeLessThanOrEqual(outcome.requests);
        },
      ),
      { seed: 7, numRuns: 30 },
    );
  });

  it("counts waits, refusals and what is paid", () => {
    // Forty seconds after the start somebody asks; the policy starts one replica then.
    const one: NewPolicy = () => ({ step: ({ load, desired }) => (load?.queued ? 1 : desired) });
    const workload = fromCounts(
      Int32Array.from({ length: 200 }, (_, s) => (s === 40 ? 8 : 0)),
      () => 20,
    );
    const outcome = simulate(one, SETTINGS, workload, CONDITIONS);
    expect(outcome).toMatchObject({ late: 8, refused: 0, waitP95S: 60, gpuSeconds: 160, actions: [40] });
    expect(scoreOf(outcome, 80)).toBe(2 + 5);
    const none: NewPolicy = () => ({ step: () => 0 });
    expect(simulate(none, SETTINGS, workload, { ...CONDITIONS, holdS: 100 }).refused).toBe(8);
  });

  it("is the same again with the same seed", () => {
    const made = () =>
      workloadOf({ seconds: 300, rate: () => 5, duration: (r) => r.exponential(9), random: seeded(4) });
    expect(made()).toEqual(made());
    expect(Math.max(...concurrencyOf(made()))).toBeGreaterThan(20);
  });
});

describe("the references", () => {
  const load = {
    inFlight: 0,
    queued: 0,
    accepted: 100,
    lastAcceptedAtMs: 0,
    idleS: 0,
    demandMs: 0,
    busyMs: 0,
  };

  /** Wants after each second in which so many requests were ongoing. */
  function play(policy: Policy, ongoing: readonly number[], ready: number): number[] {
    let demandMs = 0;
    let desired = ready;
    return ongoing.map((inFlight, second) => {
      demandMs += inFlight * 1_000;
      const nowMs = second * 1_000;
      const seen = { ...load, inFlight, demandMs };
      desired = policy.step({ nowMs, monotonicMs: nowMs, desired, ready, starting: 0, load: seen });
      return desired;
    });
  }

  it("Knative divides by seven tenths of the target, panics at the double, and does not fall in panic", () => {
    const wants = play(knative(SETTINGS), [...flat(60, 10), ...flat(10, 56), ...flat(30, 10)], 1);
    expect(wants[59]).toBe(2);
    expect(wants[68]).toBe(10);
    expect(wants[99]).toBe(10);
  });

  it("Ray Serve divides by the target, and waits for thirty seconds before it follows", () => {
    const wants = play(rayServe(SETTINGS), flat(80, 80), 1);
    expect(wants[29]).toBe(1);
    expect(wants[79]).toBe(10);
    const down = play(rayServe(SETTINGS), [...flat(60, 80), ...flat(360, 8)], 10);
    expect(down[320]).toBe(10);
    expect(down.at(-1)).toBeLessThan(10);
  });

  function flat(seconds: number, ongoing: number): number[] {
    return Array.from({ length: seconds }, () => ongoing);
  }
});
