import { describe, expect, it } from "vitest";
import type { GatewayDocument, PublishedLoad } from "../../../functions/autoscaler/gateway-records.ts";
import { createWatch } from "../../../functions/autoscaler/watch.ts";
import type { Document } from "../../../functions/ports/store.ts";

const START_MS = 1_000_000;

/** A gateway that has had so many requests in flight all the time. */
function gateway(id: string) {
  const load: PublishedLoad = {
    inFlight: 0,
    queued: 0,
    accepted: 0,
    demandMs: 0,
    busyMs: 0,
    sinceAcceptedMs: 0,
  };
  let version = 0;
  return {
    load,
    work(inFlight: number, ms: number) {
      Object.assign(load, {
        inFlight,
        accepted: load.accepted + inFlight,
        demandMs: load.demandMs + inFlight * ms,
        busyMs: load.busyMs + inFlight * ms,
      });
    },
    write(): Document<GatewayDocument> {
      return {
        key: { partition: "gateways", sort: id },
        version: ++version,
        value: { v: 1, id, heartbeatAtMs: 0, load: { base: { ...load } }, inFlight: {}, draining: [] },
      };
    },
  };
}

/** Everything that is shown, second by second, must never fall. */
function counters(watch: ReturnType<typeof createWatch>) {
  let last = { accepted: 0, demandMs: 0, busyMs: 0 };
  const falls: string[] = [];
  return {
    falls,
    at(nowMs: number) {
      const now = watch.load("base", nowMs);
      for (const name of ["accepted", "demandMs", "busyMs"] as const)
        if (now[name] < last[name]) falls.push(`${name} at ${nowMs}`);
      last = now;
      return now;
    },
  };
}

describe("what other gateways have to do", () => {
  it("counts from when somebody watches, not from when they began", () => {
    const watch = createWatch();
    const old = gateway("a");
    old.work(5, 3_600_000);
    watch.see([old.write()], START_MS);
    expect(watch.load("base", START_MS)).toMatchObject({ inFlight: 5, accepted: 0, demandMs: 0 });
    old.work(5, 2_000);
    watch.see([old.write()], START_MS + 2_000);
    expect(watch.load("base", START_MS + 2_000)).toMatchObject({
      inFlight: 5,
      accepted: 5,
      demandMs: 10_000,
      busyMs: 10_000,
    });
    expect(watch.load("other", START_MS)).toMatchObject({ inFlight: 0, demandMs: 0 });
  });

  it("goes on between two words as it was, so that averages of short times are right", () => {
    const watch = createWatch();
    const busy = gateway("a");
    const shown = counters(watch);
    for (let second = 0; second <= 60; second++) {
      if (second % 2 === 0) {
        watch.see([busy.write()], START_MS + second * 1_000);
        busy.work(8, 2_000);
      }
      shown.at(START_MS + second * 1_000);
    }
    const before = shown.at(START_MS + 60_000).demandMs;
    expect(shown.at(START_MS + 61_000).demandMs - before).toBe(8_000);
    expect(shown.falls).toEqual([]);
  });

  it("never falls, whoever comes, goes, is silent or comes back", () => {
    const watch = createWatch();
    const all = ["a", "b", "c"].map(gateway);
    const shown = counters(watch);
    const documents = new Map<number, Document<GatewayDocument>>();
    let seed = 5;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let second = 0; second < 2_000; second++) {
      for (const [index, each] of all.entries()) {
        each.work(random(20), 1_000);
        // Silent for a minute and more at times.
        const isSilent = Math.floor(second / 90) % 3 === index;
        if (!isSilent && second % 2 === 0) documents.set(index, each.write());
      }
      if (random(100) === 0) documents.delete(random(3));
      watch.see([...documents.values()], START_MS + second * 1_000);
      shown.at(START_MS + second * 1_000);
    }
    expect(shown.falls).toEqual([]);
    expect(shown.at(START_MS + 2_000_000).accepted).toBeGreaterThan(10_000);
  });

  it("does not stand still after a guess that was too high for long", () => {
    const watch = createWatch();
    const one = gateway("a");
    one.work(10, 2_000);
    watch.see([one.write()], START_MS);
    one.work(10, 2_000);
    watch.see([one.write()], START_MS + 2_000);
    // Half a minute without a word, in which there was nothing to do.
    watch.load("base", START_MS + 32_000);
    one.work(0, 30_000);
    watch.see([one.write()], START_MS + 32_000);
    const before = watch.load("base", START_MS + 32_000);
    one.work(4, 2_000);
    watch.see([one.write()], START_MS + 34_000);
    expect(watch.load("base", START_MS + 34_000).demandMs - before.demandMs).toBe(8_000);
  });

  it("is unsure about who is silent or new, until it is taken for gone", () => {
    const watch = createWatch();
    const one = gateway("a");
    const first = one.write();
    watch.see([first], START_MS);
    expect([watch.live(START_MS), watch.isUncertain(START_MS)]).toEqual([1, true]);
    const second = one.write();
    watch.see([second], START_MS + 2_000);
    expect(watch.isUncertain(START_MS + 8_000)).toBe(false);
    expect(watch.isUncertain(START_MS + 8_001)).toBe(true);
    expect(watch.live(START_MS + 8_001)).toBe(0);
    watch.see([second], START_MS + 62_000);
    expect(watch.dead()).toEqual([]);
    watch.see([second], START_MS + 62_001);
    expect(watch.isUncertain(START_MS + 62_001)).toBe(false);
    expect(watch.dead()).toEqual([second]);
    watch.see([one.write()], START_MS + 70_000);
    expect(watch.dead()).toEqual([]);
    expect(watch.live(START_MS + 70_000)).toBe(1);
  });

  it("remembers when somebody was last asked, also after that gateway is gone", () => {
    const watch = createWatch();
    const one = gateway("a");
    watch.see([one.write()], START_MS);
    one.load.sinceAcceptedMs = 1_500;
    watch.see([one.write()], START_MS + 2_000);
    watch.see([], START_MS + 4_000);
    expect(watch.load("base", START_MS + 9_000)).toMatchObject({
      inFlight: 0,
      lastAcceptedAtMs: START_MS + 500,
    });
  });
});
