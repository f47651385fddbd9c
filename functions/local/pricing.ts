import { SpotterError } from "../../sdk/schema/errors.ts";
import { ownMachine, type Pricing } from "../cost/pricing.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What an hour of a container on this machine costs: `SPOTTER_HOURLY_USD`, by default nothing. */
export function localPricing(environment: Environment, memoryMiB?: number): Pricing {
  const text = environment["SPOTTER_HOURLY_USD"];
  if (text === undefined || text === "") return ownMachine(0, memoryMiB);
  const hourlyUsd = Number(text);
  if (Number.isFinite(hourlyUsd) && hourlyUsd >= 0) return ownMachine(hourlyUsd, memoryMiB);
  throw new SpotterError("invalid_input", `SPOTTER_HOURLY_USD is "${text}", expected dollars such as 0.35.`, {
    where: "SPOTTER_HOURLY_USD",
  });
}
