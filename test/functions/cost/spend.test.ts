import { describe, expect, it } from "vitest";
import type { Charge, Price } from "../../../sdk/schema/cost.ts";
import { chargeBegun, chargesEnded, chargeStarted, spendOf } from "../../../functions/cost/spend.ts";

const HOUR = 3_600_000;
const PRICE: Price = { instance: "g5.xlarge", hourlyUsd: 2, gpus: 4, spot: false };
const charge = (attempt: number, startedAtMs?: number, endedAtMs?: number): Charge => ({
  ...PRICE,
  attempt,
  ...(startedAtMs !== undefined && { startedAtMs }),
  ...(endedAtMs !== undefined && { endedAtMs }),
});

describe("spendOf", () => {
  it.each([
    ["nothing", [], { usd: 0, gpuSeconds: 0, hourlyUsd: 0 }],
    ["nothing while it waits", [charge(1)], { usd: 0, gpuSeconds: 0, hourlyUsd: 0 }],
    ["what runs, until now", [charge(1, HOUR)], { usd: 2, gpuSeconds: 14_400, hourlyUsd: 2 }],
    ["what has ended, until then", [charge(1, 0, HOUR / 2)], { usd: 1, gpuSeconds: 7_200, hourlyUsd: 0 }],
    [
      "all attempts",
      [charge(1, 0, HOUR / 2), charge(2, 1.5 * HOUR)],
      { usd: 2, gpuSeconds: 14_400, hourlyUsd: 2 },
    ],
    ["nothing below zero", [charge(1, 3 * HOUR)], { usd: 0, gpuSeconds: 0, hourlyUsd: 2 }],
  ])("counts %s", (_name, charges, expected) => {
    expect(spendOf(charges, 2 * HOUR)).toEqual(expected);
  });

  it("is the same however often it is asked: nothing is added up", () => {
    const charges = [charge(1, 0)];
    spendOf(charges, HOUR);
    expect(spendOf(charges, HOUR)).toEqual(spendOf([charge(1, 0)], HOUR));
  });
});

describe("charges", () => {
  it("keep the first start, the first end and one entry for each attempt, whatever is repeated", () => {
    const [first, second] = [{ attempt: 1 }, { attempt: 2 }];
    let charges = chargeBegun(undefined, first, PRICE);
    charges = chargeBegun(charges, first, { ...PRICE, hourlyUsd: 9 });
    charges = chargeStarted(chargeStarted(charges, first, 10), first, 20);
    charges = chargesEnded(chargesEnded(charges, 30), 40);
    charges = chargeBegun(charges, second, PRICE);
    expect(chargesEnded(charges, 50)).toEqual([charge(1, 10, 30), charge(2)]);
  });

  it("of a conversion begin and end by themselves", () => {
    const [run, conversion] = [{ attempt: 1 }, { attempt: 1, conversion: "r-c-model" }];
    let charges = chargeBegun(chargeBegun(undefined, conversion, PRICE), run, PRICE);
    charges = chargeStarted(chargeStarted(charges, conversion, 10), run, 20);
    expect(chargesEnded(charges, 30)).toEqual([{ ...charge(1, 10), ...conversion }, charge(1, 20, 30)]);
    expect(chargesEnded(charges, 30, conversion)).toEqual([
      { ...charge(1, 10, 30), ...conversion },
      charge(1, 20),
    ]);
    // A word about an attempt that is long over says nothing of the one that runs.
    expect(chargesEnded(charges, 30, { ...conversion, attempt: 2 })).toEqual(charges);
  });
});
