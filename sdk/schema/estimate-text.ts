import type { Estimate } from "./cost.ts";

/** An estimate in one line. */
export function estimateText({
  seconds,
  usd,
  low,
  high,
  hourlyUsd,
  instance,
  basis,
  memory,
}: Estimate): string {
  const money =
    hourlyUsd > 0 ? ` and $${usd.toFixed(2)} ($${low.usd.toFixed(2)} to $${high.usd.toFixed(2)})` : "";
  const size = memory === undefined ? "" : `, with ${memory.neededMiB.toLocaleString("en-US")} MiB of memory`;
  const time = `${timeText(seconds)} (${timeText(low.seconds)} to ${timeText(high.seconds)})`;
  return `Estimated: ${time}${money} on ${instance}${size}. ${basis.text}`;
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toPrecision(2)} h`;
}
