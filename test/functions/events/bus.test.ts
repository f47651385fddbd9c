import { describe, expect, it } from "vitest";
import { createBus } from "../../../functions/events/bus.ts";
import { fakeClock } from "../../fakes/clock.ts";

describe("a bus", () => {
  it("remembers news that came between listening and waiting", async () => {
    const bus = createBus(fakeClock());
    const listener = bus.listen("a");
    bus.notify("a");
    bus.notify("a");
    expect(await listener.next(1_000)).toBe(true);
    expect(await listener.next(0)).toBe(false);
  });

  it("wakes all who wait on a topic, and nobody else", async () => {
    const clock = fakeClock();
    const bus = createBus(clock);
    const waiting = ["a", "a", "b"].map((topic) => bus.listen(topic).next(1_000));
    bus.notify("a");
    clock.advance(1_000);
    expect(await Promise.all(waiting)).toEqual([true, true, false]);
    expect(clock.pending).toBe(0);
  });

  it("ends a wait on abort and on close, with nothing left behind", async () => {
    const clock = fakeClock();
    const bus = createBus(clock);
    const abort = new AbortController();
    const aborted = bus.listen("a").next(1_000, abort.signal);
    abort.abort();
    expect(await aborted).toBe(false);
    expect(await bus.listen("a").next(1_000, abort.signal)).toBe(false);
    const closing = bus.listen("a");
    const closed = closing.next(1_000);
    closing.close();
    expect(await closed).toBe(false);
    expect(clock.pending).toBe(0);
  });
});
