import { describe, expect, it } from "vitest";
import { createWorkLoop } from "../../../functions/records/work-loop.ts";
import { fakeClock } from "../../fakes/clock.ts";

describe("a work loop", () => {
  it("makes one pass of many wakes, and another of a wake within a pass", async () => {
    let passes = 0;
    const loop = createWorkLoop(
      fakeClock(),
      async () => {
        if (++passes === 1) loop.wake();
        return undefined;
      },
      () => 1,
    );
    for (let count = 0; count < 5; count++) loop.wake();
    expect([passes, loop.isBusy]).toEqual([0, true]);
    await loop.settle();
    expect([passes, loop.isBusy]).toEqual([2, false]);
  });

  it("comes again after the time its pass told, and after a fault", async () => {
    const clock = fakeClock();
    const faults: unknown[] = [];
    let passes = 0;
    const loop = createWorkLoop(
      clock,
      async () => {
        if (++passes === 2) throw new Error("no");
        return 1_000;
      },
      (error) => faults.push(error) * 5_000,
    );
    loop.wake();
    await loop.settle();
    clock.advance(999);
    expect(loop.isBusy).toBe(false);
    clock.advance(1);
    await loop.settle();
    expect([passes, faults]).toEqual([2, [new Error("no")]]);
    clock.advance(4_999);
    expect(loop.isBusy).toBe(false);
    clock.advance(1);
    await loop.settle();
    expect(passes).toBe(3);
  });

  it("finishes its pass when it is closed, and begins no other", async () => {
    const clock = fakeClock();
    let finish = () => {};
    let passes = 0;
    const loop = createWorkLoop(
      clock,
      async () => {
        passes++;
        await new Promise<void>((resolve) => (finish = resolve));
        return 10;
      },
      () => 1,
    );
    loop.wake();
    await Promise.resolve();
    await Promise.resolve();
    loop.wake();
    const closing = loop.close();
    finish();
    await closing;
    loop.wake();
    clock.advance(60_000);
    await loop.settle();
    expect([passes, loop.isClosed, loop.isBusy]).toEqual([1, true, false]);
  });
});
