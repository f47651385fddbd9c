import { describe, expect, it } from "vitest";
import { scalingOf } from "../../../sdk/schema/scaling.ts";

describe("scalingOf", () => {
  it("has one replica that stays up, by default", () => {
    expect(scalingOf()).toEqual({
      min: 1,
      max: 1,
      buffer: 0,
      targetConcurrency: 32,
      idleTimeoutMs: 300_000,
      scaleDownWindowMs: 300_000,
      holdMs: 600_000,
      queueLimit: 3_200,
    });
  });

  it("raises the maximum with the minimum, and the queue with the target", () => {
    expect(scalingOf({ min: 3, targetConcurrency: 2 })).toMatchObject({ max: 3, queueLimit: 200 });
    expect(scalingOf({ min: 0, max: 5, queueLimit: 7 })).toMatchObject({ min: 0, max: 5, queueLimit: 7 });
  });
});
