import { describe, expect, it } from "vitest";
import { gpuClass, hardware, type Hardware } from "../../../sdk/schema/hardware.ts";
import {
  hourlyUsd,
  instanceFor,
  parsePrices,
  SHIPPED_PRICES,
  type PriceList,
} from "../../../functions/cost/prices.ts";

const asked = (given: Partial<Hardware>) => hardware.parse(given);

describe("the price list", () => {
  it("has a date, a source and an instance for every GPU that can be asked for", () => {
    expect(SHIPPED_PRICES.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const gpu of gpuClass.options) expect(instanceFor(asked({ gpu }))?.gpu).toBe(gpu);
  });

  it("has a spot price below the price on demand for every instance", () => {
    const { onDemandUsd = {}, spotUsd = {} } = SHIPPED_PRICES.regions["us-east-1"] ?? {};
    for (const [name, usd] of Object.entries(onDemandUsd)) expect(spotUsd[name]).toBeLessThan(usd);
    expect(Object.keys(onDemandUsd).sort()).toEqual(Object.keys(SHIPPED_PRICES.instances).sort());
  });

  it("refuses a list with a wrong date, an unknown GPU or an instance without a price", () => {
    const changed = (change: (list: PriceList) => void) => {
      const list = structuredClone(SHIPPED_PRICES);
      change(list);
      return () => parsePrices(list, "mine.json");
    };
    expect(changed((list) => (list.date = "yesterday"))).toThrow(/mine\.json is not valid:\n {2}date/);
    expect(changed((list) => (list.region = "mars-1"))).toThrow(/region: has no entry/);
    expect(changed((list) => delete list.regions["us-east-1"]?.onDemandUsd["p5.48xlarge"])).toThrow(
      /needs an onDemandUsd price/,
    );
  });
});

describe("instanceFor", () => {
  it.each([
    [{ gpu: "T4" }, "g4dn.xlarge"],
    [{ gpu: "A10G", count: 2 }, "g5.12xlarge"],
    [{ gpu: "L4", count: 5 }, "g6.48xlarge"],
    [{ gpu: "A100-80GB" }, "p4de.24xlarge"],
    [{ gpu: "H100" }, "p5.4xlarge"],
    [{ gpu: "H100", count: 2 }, "p5.48xlarge"],
  ] as const)("takes the cheapest with at least %j: %s", (given, name) => {
    expect(instanceFor(asked(given))?.name).toBe(name);
  });

  it("needs no instance without a GPU", () => {
    expect(instanceFor(asked({}))).toBeUndefined();
  });

  it("says what the largest has", () => {
    const list = structuredClone(SHIPPED_PRICES);
    delete list.instances["g5.48xlarge"];
    expect(() => instanceFor(asked({ gpu: "A10G", count: 8 }), list)).toThrow("No instance has 8 × A10G.");
    expect(() => instanceFor(asked({ gpu: "A10G", count: 8 }), list)).toThrow(
      expect.objectContaining({ code: "invalid_input", hint: "The largest has 4." }),
    );
  });
});

describe("hourlyUsd", () => {
  it("is the instance and its disk", () => {
    expect(hourlyUsd(asked({ gpu: "A10G" }))).toBeCloseTo(1.006 + (200 * 0.08) / 730, 4);
    expect(hourlyUsd(asked({ gpu: "A10G", spot: true }))).toBeCloseTo(0.45 + (200 * 0.08) / 730, 4);
  });

  it("is Fargate by cores and memory without a GPU", () => {
    expect(hourlyUsd(asked({}))).toBeCloseTo(4 * 0.04048 + 16 * 0.004445, 4);
    expect(hourlyUsd(asked({}), undefined, undefined, { vCpus: 1, memoryGiB: 2 })).toBeCloseTo(0.0494, 4);
  });

  it("follows the region, and falls back to the default region's prices", () => {
    const inIreland = (given: Partial<Hardware>) => hourlyUsd(asked(given), SHIPPED_PRICES, "eu-west-1");
    expect(inIreland({ gpu: "T4" })).toBeGreaterThan(hourlyUsd(asked({ gpu: "T4" })));
    expect(inIreland({ gpu: "H100" })).toBeCloseTo(6.88 + (200 * 0.088) / 730, 4);
    expect(hourlyUsd(asked({ gpu: "T4" }), SHIPPED_PRICES, "nowhere-1")).toBe(
      hourlyUsd(asked({ gpu: "T4" })),
    );
  });
});
