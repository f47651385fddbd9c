import type { Spend } from "../../schema/cost.ts";

/** Dollars and cents; less than a cent with four digits behind the point. */
export function usdText(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** What something has cost, and what it costs now. */
export function spendText({ usd, hourlyUsd, gpuSeconds }: Spend, maxUsd?: number): string {
  const limit = maxUsd === undefined ? "" : ` of at most ${usdText(maxUsd)}`;
  const gpus = gpuSeconds > 0 ? ` for ${gpuSeconds.toLocaleString("en-US")} GPU-seconds` : "";
  const rate = hourlyUsd > 0 ? `, now ${usdText(hourlyUsd)} an hour` : "";
  return `${usdText(usd)}${limit}${gpus}${rate}`;
}
