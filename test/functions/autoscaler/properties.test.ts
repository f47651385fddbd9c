import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../../functions/autoscaler/decide.ts";
import type { Decision, Load, ScalerState } from "../../../functions/autoscaler/views.ts";
import { scalingOf, type Scaling } from "../../../sdk/schema/scaling.ts";

interface Step {
  afterMs: number;
  inFlight: number;
  queued: number;
  accepted: number;
  isBlind: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    afterMs: fc.oneof(
      { weight: 8, arbitrary: fc.constant(2_000) },
      fc.integer({ min: -100_000, max: 400_000 }),
    ),
    inFlight: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 })),
    queued: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 })),
    accepted: fc.integer({ min: 0, max: 10_000 }),
    isBlind: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
);

const settings = fc
  .record({
    min: fc.integer({ min: 0, max: 20 }),
    more: fc.integer({ min: 0, max: 2_000 }),
    buffer: fc.integer({ min: 0, max: 10 }),
    targetConcurrency: fc.integer({ min: 1, max: 64 }),
    idleTimeoutMs: fc.integer({ min: 1_000, max: 600_000 }),
    scaleDownWindowMs: fc.integer({ min: 0, max: 600_000 }),
  })
  .map(({ min, more, ...rest }) => scalingOf({ ...rest, min, max: Math.max(1, min + more) }));

interface Seen {
  before: number;
  load: Load | undefined;
  decision: Decision;
  stateBefore: ScalerState | undefined;
  now: number;
}

/** Plays the steps from a first number of replicas and tells each decision to `check`. */
function play(all: readonly Step[], config: Scaling, first: number, check: (seen: Seen) => void): void {
  let state: ScalerState | undefined;
  let desired = first;
  let now = 1_000_000;
  let load: Load = {
    inFlight: 0,
    queued: 0,
    lastAcceptedAtMs: undefined,
    accepted: 0,
    demandMs: 0,
    busyMs: 0,
  };
  for (const step of all) {
    now += step.afterMs;
    const ms = Math.max(0, step.afterMs);
    load = {
      inFlight: step.inFlight,
      queued: step.queued,
      accepted: load.accepted + step.accepted,
      lastAcceptedAtMs: step.accepted > 0 ? now : load.lastAcceptedAtMs,
      demandMs: load.demandMs + (load.inFlight + load.queued) * ms,
      busyMs: load.busyMs + load.inFlight * ms,
    };
    const known = step.isBlind ? undefined : load;
    const decision = decide(state, { desired, load: known }, now, config);
    check({ before: desired, load: known, decision, stateBefore: state, now });
    ({ desired, nextState: state } = decision);
  }
}

function always(check: (seen: Seen, config: Scaling) => void): void {
  fc.assert(
    fc.property(steps, settings, fc.integer({ min: 0, max: 3_000 }), (all, config, first) => {
      play(all, config, first, (seen) => check(seen, config));
    }),
    { seed: 20_261_130, numRuns: 150 },
  );
}

describe("any decision", () => {
  it("is a whole number within the bounds", () => {
    always(({ decision: { desired } }, { min, max }) => {
      expect(Number.isInteger(desired)).toBe(true);
      expect(desired).toBeGreaterThanOrEqual(min);
      expect(desired).toBeLessThanOrEqual(max);
    });
  });

  it("does not go below what the requests in flight fill, nor to zero while there are any", () => {
    always(({ before, load, decision: { desired } }, { max, targetConcurrency }) => {
      if (load === undefined || desired >= before) return;
      const filled = Math.ceil(load.inFlight / targetConcurrency);
      expect(desired).toBeGreaterThanOrEqual(Math.min(max, filled));
      if (load.inFlight + load.queued > 0) expect(desired).toBeGreaterThan(0);
    });
  });

  it("changes nothing without data, but for the bounds", () => {
    always(({ before, load, decision }, { min, max }) => {
      if (load === undefined) expect(decision.desired).toBe(Math.min(max, Math.max(min, before)));
    });
  });

  it("falls by half at most, and rises to the double or by four at most, but for the bounds", () => {
    always(({ before, decision: { desired } }, { min, max }) => {
      expect(desired).toBeGreaterThanOrEqual(Math.min(max, Math.floor(before / 2)));
      expect(desired).toBeLessThanOrEqual(Math.max(min, 2 * before, before + 4));
    });
  });

  it("is the same for the same state, snapshot, time and settings, also after JSON", () => {
    always(({ before, load, decision, stateBefore, now }, config) => {
      const copy = stateBefore && (JSON.parse(JSON.stringify(stateBefore)) as ScalerState);
      expect(decide(copy, { desired: before, load }, now, config)).toEqual(decision);
    });
  });

  it("wakes what sleeps for whoever waits", () => {
    always(({ load, decision }) => {
      if (load !== undefined && load.inFlight + load.queued > 0) expect(decision.desired).toBeGreaterThan(0);
    });
  });

  it("remembers a bounded amount", () => {
    const all = Array.from({ length: 2_000 }, (_, index): Step => {
      return { afterMs: 2_000, inFlight: (index * 7_919) % 500, queued: 0, accepted: 10, isBlind: false };
    });
    play(all, scalingOf({ max: 100 }), 1, ({ decision: { nextState } }) => {
      expect(nextState.samples.length).toBeLessThanOrEqual(32);
      expect(nextState.peaks.length).toBeLessThanOrEqual(151);
    });
  });
});
