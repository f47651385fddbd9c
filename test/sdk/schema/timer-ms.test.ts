import { describe, expect, it } from "vitest";
import { timerMs } from "../../../sdk/schema/timer-ms.ts";

describe("timerMs", () => {
  it.each([
    [0, 0],
    [60_000, 60_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31 - 1],
    [Number.MAX_SAFE_INTEGER, 2 ** 31 - 1],
  ])("%d waits %d", (ms, expected) => {
    expect(timerMs(ms)).toBe(expected);
  });
});
