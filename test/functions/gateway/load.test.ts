import { describe, expect, it } from "vitest";
import { createLoadBook } from "../../../functions/gateway/load.ts";
import { fakeClock } from "../../fakes/clock.ts";

describe("the book of load", () => {
  it("knows nothing of an endpoint that nobody asked", () => {
    const book = createLoadBook(fakeClock());
    expect(book.snapshot("base")).toEqual({
      inFlight: 0,
      queued: 0,
      oldestWaitMs: 0,
      lastAcceptedAtMs: undefined,
      inFlightByReplica: new Map(),
      accepted: 0,
      demandMs: 0,
      busyMs: 0,
    });
  });

  it("tells what replicas have worked from what has waited", () => {
    const clock = fakeClock();
    const book = createLoadBook(clock);
    const first = book.accept("base");
    const second = book.accept("base");
    clock.advance(100);
    first.start("r1");
    clock.advance(30);
    second.start("r1");
    clock.advance(5);
    first.end();
    clock.advance(1);
    expect(book.snapshot("base")).toMatchObject({ demandMs: 271, busyMs: 41 });
    second.end();
  });

  it("tells of each request that is accepted, and counts them", () => {
    const book = createLoadBook(fakeClock());
    const told: [string, number][] = [];
    const stop = book.onAccept((endpoint) => told.push([endpoint, book.queued(endpoint)]));
    book.accept("base").end();
    book.accept("other");
    stop();
    book.accept("base");
    expect(told).toEqual([
      ["base", 1],
      ["other", 1],
    ]);
    expect(book.snapshot("base").accepted).toBe(2);
  });

  it("counts a request as waiting, then as in flight, then no more", () => {
    const clock = fakeClock(1_000);
    const book = createLoadBook(clock);
    const ticket = book.accept("base");
    clock.advance(40);
    expect(book.snapshot("base")).toMatchObject({ queued: 1, inFlight: 0, oldestWaitMs: 40 });
    ticket.start("r1");
    expect(book.snapshot("base")).toMatchObject({
      queued: 0,
      inFlight: 1,
      oldestWaitMs: 0,
      inFlightByReplica: new Map([["r1", 1]]),
    });
    ticket.end();
    expect(book.snapshot("base")).toMatchObject({
      inFlight: 0,
      queued: 0,
      lastAcceptedAtMs: 1_000,
      inFlightByReplica: new Map(),
    });
  });

  it("counts the first end only, whether it waited or ran", () => {
    const book = createLoadBook(fakeClock());
    const [waits, runs, stays] = [book.accept("base"), book.accept("base"), book.accept("base")];
    runs.start("r1");
    stays.start("r1");
    for (let time = 0; time < 3; time++) {
      waits.end();
      runs.end();
    }
    waits.start("r1");
    expect(book.snapshot("base")).toMatchObject({ inFlight: 1, queued: 0 });
    expect(book.inFlightOn("base", "r1")).toBe(1);
  });

  it("moves a request from replica to replica", () => {
    const book = createLoadBook(fakeClock());
    const ticket = book.accept("base");
    ticket.start("r1");
    ticket.start("r2");
    expect(book.snapshot("base").inFlightByReplica).toEqual(new Map([["r2", 1]]));
    expect(book.snapshot("base").inFlight).toBe(1);
  });

  it("integrates demand over time, so that averages are exact", () => {
    const clock = fakeClock();
    const book = createLoadBook(clock);
    const first = book.accept("base");
    clock.advance(100);
    const second = book.accept("base");
    second.start("r1");
    clock.advance(50);
    first.end();
    clock.advance(10);
    second.end();
    clock.advance(1_000);
    expect(book.snapshot("base").demandMs).toBe(100 + 2 * 50 + 10);
  });

  it("tells the wait of the oldest one that still waits", () => {
    const clock = fakeClock();
    const book = createLoadBook(clock);
    const first = book.accept("base");
    clock.advance(30);
    book.accept("base");
    clock.advance(5);
    first.start("r1");
    expect(book.snapshot("base").oldestWaitMs).toBe(5);
  });

  it("says when a replica has nothing left to do", () => {
    const book = createLoadBook(fakeClock());
    const idle: string[] = [];
    const stop = book.onIdle((endpoint, jobId) => idle.push(`${endpoint} ${jobId}`));
    const [one, two] = [book.accept("base"), book.accept("base")];
    one.start("r1");
    two.start("r1");
    one.end();
    expect(idle).toEqual([]);
    two.end();
    expect(idle).toEqual(["base r1"]);
    stop();
    const three = book.accept("base");
    three.start("r1");
    three.end();
    expect(idle).toHaveLength(1);
  });
});
