import { describe, expect, it } from "vitest";
import { localPricing } from "../../../functions/local/pricing.ts";
import { hardware } from "../../../sdk/schema/hardware.ts";

const T4 = hardware.parse({ gpu: "T4" });

describe("one machine", () => {
  it("costs what its owner says, by default nothing", () => {
    expect(localPricing({}).priceOf(T4)).toMatchObject({ instance: "this machine", hourlyUsd: 0, gpus: 0 });
    expect(localPricing({ SPOTTER_HOURLY_USD: "0.35" }).priceOf(undefined).hourlyUsd).toBe(0.35);
    for (const wrong of ["free", "-1", "Infinity"])
      expect(() => localPricing({ SPOTTER_HOURLY_USD: wrong })).toThrow(/SPOTTER_HOURLY_USD is/);
  });
});
