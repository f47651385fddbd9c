import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hardware } from "../../../sdk/schema/hardware.ts";
import { SHIPPED_PRICES } from "../../../functions/cost/prices.ts";
import { awsPricing } from "../../../functions/aws/pricing.ts";

const T4 = hardware.parse({ gpu: "T4" });

function fileOf(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-prices-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "mine.json");
  writeFileSync(path, content);
  return path;
}

describe("AWS", () => {
  it("prices by region, and by a list of one's own", () => {
    expect(awsPricing({ AWS_REGION: "eu-west-1" }).priceOf(T4).hourlyUsd).toBeGreaterThan(
      awsPricing({}).priceOf(T4).hourlyUsd,
    );
    const mine = structuredClone(SHIPPED_PRICES);
    Object.assign(mine.regions["us-east-1"]?.onDemandUsd ?? {}, { "g4dn.xlarge": 2 });
    const environment = { SPOTTER_PRICES_FILE: fileOf(JSON.stringify(mine)) };
    expect(awsPricing(environment).priceOf(T4)).toMatchObject({ instance: "g4dn.xlarge", hourlyUsd: 2.0219 });
  });

  it.each([
    ["{", /cannot be read/],
    ['{ "date": "today" }', /date: must be a date[^]*regions/],
  ])("says what is wrong with a list: %s", (content, message) => {
    expect(() => awsPricing({ SPOTTER_PRICES_FILE: fileOf(content) })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(message) as string }),
    );
  });
});
