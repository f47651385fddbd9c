import { describe, expect, it } from "vitest";
import type { Endpoint, Replica } from "../../../sdk/schema/endpoint.ts";
import type { ScalingSettings } from "../../../sdk/schema/scaling.ts";
import type { SpotterError } from "../../../sdk/schema/errors.ts";
import { createBus } from "../../../functions/events/bus.ts";
import { createLoadBook } from "../../../functions/gateway/load.ts";
import { createSlots, type Visitor } from "../../../functions/gateway/slots.ts";
import { fakeClock } from "../../fakes/clock.ts";

const ready = (jobId: string): Replica => ({ jobId, state: "ready", address: `${jobId}:1`, createdAtMs: 0 });

function setUp(scaling: ScalingSettings = {}, jobIds: string[] = []) {
  const clock = fakeClock();
  const bus = createBus(clock);
  const load = createLoadBook(clock);
  let wakes = 0;
  let endpoint = endpointWith(scaling, jobIds.map(ready));
  const slots = createSlots({ clock, bus, load, routes: { find: () => endpoint }, wake: () => void wakes++ });
  return {
    clock,
    load,
    slots,
    wakes: () => wakes,
    enter: (visitor: Visitor) => slots.enter(endpoint, visitor),
    /** The endpoint changes, and whoever waits hears of it. */
    change: async (replicas: Replica[], changes: Partial<Endpoint> = {}) => {
      endpoint = { ...endpointWith(scaling, replicas), ...changes };
      bus.notify("endpoint/base");
      await new Promise(setImmediate);
    },
    snapshot: () => load.snapshot("base"),
  };
}

function endpointWith(scaling: ScalingSettings, replicas: Replica[]): Endpoint {
  return {
    v: 1,
    name: "base",
    model: { name: "spotter/nano" },
    engine: "onnx",
    public: false,
    state: replicas.length > 0 ? "ready" : "creating",
    revision: 1,
    desired: 1,
    scaling,
    replicas,
    startFailures: 0,
    createdAtMs: 0,
    url: "",
  };
}

interface Guest extends Visitor {
  had: string[];
  error: SpotterError | undefined;
}

function guest(onAdmitted: () => void = () => {}): Guest {
  const made: Guest = {
    had: [],
    error: undefined,
    affinity: () => 0,
    admitted({ jobId }) {
      made.had.push(jobId);
      onAdmitted();
    },
    turnedAway: (error) => void (made.error = error),
  };
  return made;
}

describe("slots", () => {
  it("are given at once where a replica has room, and never more than it should have", () => {
    const { enter, snapshot } = setUp({ targetConcurrency: 2 }, ["r1", "r2"]);
    const guests = Array.from({ length: 5 }, () => guest());
    for (const each of guests) enter(each);
    expect(guests.map(({ had }) => had.length)).toEqual([1, 1, 1, 1, 0]);
    expect(snapshot().inFlightByReplica).toEqual(
      new Map([
        ["r1", 2],
        ["r2", 2],
      ]),
    );
    expect(snapshot().queued).toBe(1);
  });

  it("are given in the order of arrival, also to somebody who comes while others wait", () => {
    const { enter } = setUp({ targetConcurrency: 1 }, ["r1"]);
    const order: number[] = [];
    const seats = [0, 1, 2, 3].map((at) => enter(guest(() => void order.push(at))));
    for (const seat of seats) seat.leave();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it("E24 are refused when enough wait already, and that one is not counted", () => {
    const { enter, snapshot } = setUp({ targetConcurrency: 1, queueLimit: 2 }, ["r1"]);
    for (let at = 0; at < 3; at++) enter(guest());
    expect(() => enter(guest())).toThrow(
      expect.objectContaining({ code: "queue_full", status: 429 }) as Error,
    );
    expect(snapshot()).toMatchObject({ inFlight: 1, queued: 2, accepted: 3 });
  });

  it("are waited for with one wake, however many wait, and all get theirs when a replica comes", async () => {
    const { enter, change, wakes, snapshot } = setUp({ targetConcurrency: 100 });
    const guests = Array.from({ length: 50 }, () => guest());
    for (const each of guests) enter(each);
    expect(wakes()).toBe(1);
    await change([ready("r1")]);
    expect(guests.every(({ had }) => had.length === 1)).toBe(true);
    expect(snapshot()).toMatchObject({ inFlight: 50, queued: 0 });
  });

  it("E27 end with the endpoint, for those that wait and those that come", async () => {
    const { enter, change, snapshot } = setUp();
    const waits = guest();
    const seat = enter(waits);
    await change([], { state: "failed", failure: { code: "container_failed", message: "It crashed." } });
    expect(waits.error).toMatchObject({ code: "endpoint_failed", status: 503, retryable: false });
    seat.leave();
    expect(() => enter(guest())).toThrow("It crashed");
    expect(snapshot()).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it("are given back once, however often somebody leaves, from the queue and from a replica", () => {
    const { enter, snapshot } = setUp({ targetConcurrency: 1 }, ["r1"]);
    const [first, second, third] = [enter(guest()), enter(guest()), enter(guest())];
    for (let time = 0; time < 3; time++) second.leave();
    for (let time = 0; time < 3; time++) first.leave();
    expect(snapshot()).toMatchObject({ inFlight: 1, queued: 0 });
    third.leave();
    expect(snapshot()).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it("are not given on a replica that drains, and come free when it is gone", async () => {
    const { enter, change, snapshot } = setUp({ targetConcurrency: 1 }, ["r1"]);
    const seat = enter(guest());
    await change([{ ...ready("r1"), state: "draining" }]);
    const next = guest();
    enter(next);
    seat.leave();
    expect(next.had).toEqual([]);
    await change([ready("r2")]);
    expect(next.had).toEqual(["r2"]);
    expect(snapshot().inFlightByReplica).toEqual(new Map([["r2", 1]]));
  });

  it("are those of the newest revision once it has a ready replica", async () => {
    const { enter, change } = setUp({ targetConcurrency: 9 }, ["serve-base-r1-1"]);
    const [old, young] = [guest(), guest()];
    enter(old);
    await change([ready("serve-base-r1-1"), ready("serve-base-r2-2")]);
    for (let at = 0; at < 5; at++) enter(young);
    expect(old.had).toEqual(["serve-base-r1-1"]);
    expect(new Set(young.had)).toEqual(new Set(["serve-base-r2-2"]));
  });

  it("E25 move to another replica, over its limit if need be, and the failed one is avoided for a while", () => {
    const { enter, clock, snapshot, wakes } = setUp({ targetConcurrency: 1 }, ["r1", "r2"]);
    const [first, second] = [guest(), guest()];
    const seat = enter(first);
    const other = enter(second);
    expect(seat.moveOn()).toBe(true);
    expect(first.had).toHaveLength(2);
    const [bad = "", good = ""] = first.had;
    expect(snapshot().inFlightByReplica).toEqual(new Map([[good, 2]]));
    expect(wakes()).toBe(1);
    seat.leave();
    other.leave();
    const after = [0, 1].map(() => {
      const next = guest();
      enter(next).leave();
      clock.advance(6_000);
      return next.had[0];
    });
    expect(after).toEqual([good, bad]);
    expect(snapshot()).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it("E25 are not moved where there is no replica that was not tried", () => {
    const { enter, snapshot } = setUp({}, ["r1"]);
    const seat = enter(guest());
    expect(seat.moveOn()).toBe(false);
    expect(snapshot().inFlight).toBe(1);
    seat.leave();
    expect(seat.moveOn()).toBe(false);
    expect(snapshot().inFlight).toBe(0);
  });

  it("of somebody who leaves while being admitted go to the next one", () => {
    const { enter, snapshot } = setUp({ targetConcurrency: 1 }, ["r1"]);
    const holds = enter(guest());
    const seats: { leave(): void }[] = [];
    const quick = guest(() => seats[0]?.leave());
    seats.push(enter(quick));
    const last = guest();
    enter(last);
    holds.leave();
    expect([quick.had, last.had]).toEqual([["r1"], ["r1"]]);
    expect(snapshot()).toMatchObject({ inFlight: 1, queued: 0 });
  });
});
