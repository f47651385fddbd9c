import { readFileSync } from "node:fs";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parsePrices, type PriceList } from "../cost/prices.ts";
import { cloudPricing, type Pricing } from "../cost/pricing.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Instances and Fargate of the region, by the list that is shipped or the one `SPOTTER_PRICES_FILE` names. */
export function awsPricing(environment: Environment): Pricing {
  const path = environment["SPOTTER_PRICES_FILE"];
  const region = environment["AWS_REGION"];
  const list = path === undefined || path === "" ? undefined : readPrices(path);
  return cloudPricing({ ...(list && { list }), ...(region && { region }) });
}

/** @throws SpotterError `invalid_input`, with everything that is wrong in the file. */
function readPrices(path: string): PriceList {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SpotterError("invalid_input", `The price list ${path} cannot be read: ${why}`, {
      where: path,
      hint: "docs/cost.md shows what such a file holds.",
      cause,
    });
  }
  return parsePrices(value, path);
}
