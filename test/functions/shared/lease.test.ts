import { describe, expect, it } from "vitest";
import { createLease, type Lease } from "../../../functions/records/lease.ts";
import { memoryStore } from "../../fakes/memory-store.ts";
import { fakeClock } from "../../fakes/clock.ts";
import type { Store } from "../../../functions/ports/store.ts";

const key = { partition: "leases", sort: "test" };

/** Processes that look once a second, each with a clock and a way to the Store of its own. */
function processes(count: number) {
  const store = memoryStore();
  const time = fakeClock();
  const all = Array.from({ length: count }, (_, index) => {
    const state = { skewMs: 0, isAway: false, isDead: false };
    const guard = new Proxy(store, {
      get: (target, name: keyof Store) =>
        state.isAway ? () => Promise.reject(new Error("away")) : target[name].bind(target),
    });
    const clock = { now: () => time.now() + state.skewMs };
    const lease = createLease({ store: guard, clock, key, holder: `p${index}` });
    return { state, lease };
  });
  const held = () => all.flatMap(({ lease }, index) => (lease.isHeld ? [index] : []));
  const faults: string[] = [];
  return {
    all,
    held,
    faults,
    pass: async (seconds: number): Promise<void> => {
      for (let passed = 0; passed < seconds; passed++) {
        time.advance(1_000);
        for (const { lease, state } of all) if (!state.isDead) await lease.look().catch(() => undefined);
        const now = held().filter((index) => all[index]?.state.isDead === false);
        if (now.length > 1) faults.push(`${now.join(" and ")} at ${time.now()}`);
      }
    },
  };
}

function of(lease: Lease | undefined): Lease {
  if (lease === undefined) throw new Error("no such process");
  return lease;
}

describe("a lease", () => {
  it("is held by one, and goes on to the next at once when it is given up", async () => {
    const { all, held, pass } = processes(3);
    await pass(5);
    expect(held()).toEqual([0]);
    await pass(600);
    expect(held()).toEqual([0]);
    await of(all[0]?.lease).release();
    const { state } = all[0] ?? { state: { isDead: false } };
    state.isDead = true;
    expect(held()).toEqual([]);
    await pass(1);
    expect(held()).toEqual([1]);
  });

  it("is taken over within ten seconds after its holder was killed", async () => {
    const { all, held, pass } = processes(2);
    await pass(5);
    const { state } = all[0] ?? { state: { isDead: false } };
    state.isDead = true;
    await pass(10);
    expect(held()).toEqual([1]);
  });

  it("ends by itself for who cannot renew it, before anybody else has it", async () => {
    const { all, held, pass, faults } = processes(2);
    await pass(5);
    const { state } = all[0] ?? { state: { isAway: false } };
    state.isAway = true;
    await pass(5);
    expect(held()).toEqual([]);
    await pass(5);
    expect(held()).toEqual([1]);
    state.isAway = false;
    await pass(60);
    expect(held()).toEqual([1]);
    expect(faults).toEqual([]);
  });

  it("is not stolen by a clock that jumps, and not kept by one that jumps back", async () => {
    const { all, held, pass, faults } = processes(2);
    await pass(5);
    for (const skewMs of [3_600_000, -3_600_000, 0, 86_400_000]) {
      for (const { state } of all) state.skewMs = skewMs;
      await pass(1);
      const [first, second] = all;
      if (first && second) [first.state.skewMs, second.state.skewMs] = [0, skewMs];
      await pass(20);
      expect(held()).toHaveLength(1);
    }
    expect(faults).toEqual([]);
  });

  it("has never two holders, whatever becomes of processes, clocks and the way to the Store", async () => {
    const { all, held, pass, faults } = processes(3);
    let seed = 11;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    let heldSeconds = 0;
    for (let second = 0; second < 3_000; second++) {
      const { state } = all[random(3)] ?? { state: { skewMs: 0, isAway: false, isDead: false } };
      if (random(5) === 0) state.isAway = random(3) === 0;
      if (random(20) === 0) state.skewMs = random(20_000) - 10_000;
      await pass(1);
      heldSeconds += held().length;
    }
    expect(faults).toEqual([]);
    expect(heldSeconds).toBeGreaterThan(1_000);
  });
});
