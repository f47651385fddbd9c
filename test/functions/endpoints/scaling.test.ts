import { describe, expect, it } from "vitest";
import { changedScaling } from "../../../functions/endpoints/scaling.ts";

describe("changedScaling", () => {
  it("changes what is given and keeps the rest", () => {
    expect(changedScaling({ min: 0, max: 4 }, { max: 6, min: undefined })).toEqual({ min: 0, max: 6 });
    expect(changedScaling({ min: 0 }, undefined)).toEqual({ min: 0 });
    expect(changedScaling(undefined, undefined)).toBeUndefined();
  });

  it("refuses a minimum above the maximum that was set before", () => {
    expect(() => changedScaling({ max: 2 }, { min: 3 })).toThrow(
      expect.objectContaining({ code: "invalid_input", where: "scaling.max" }) as Error,
    );
    expect(changedScaling({}, { min: 3 })).toEqual({ min: 3 });
  });
});
