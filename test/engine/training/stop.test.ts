import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stopSignal } from "../../../engine/training/stop.ts";

describe("stopSignal", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([1_000, 2 ** 31, 3 * 2 ** 31])("ends after %d ms, not before", (durationMs) => {
    using stop = stopSignal([], durationMs);
    vi.advanceTimersByTime(durationMs - 1);
    expect(stop.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stop.signal.reason).toMatchObject({ code: "timeout", where: "limits.durationMs" });
  });

  it("leaves no timer behind", () => {
    stopSignal([], 2 ** 40)[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  });
});
