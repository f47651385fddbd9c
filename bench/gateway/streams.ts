import { join } from "node:path";
import { exec, lastJson, median } from "../figures.ts";
import type { Gateway } from "./gateways.ts";
import { rssMiB } from "./process.ts";

const RSS_EVERY_MS = 200;

/** Median time to the first token of 64 paced streams. */
export async function firstTokenMs(gateway: Gateway): Promise<number> {
  const { times } = await client<{ times: number[] }>("first-token", gateway);
  return median(times);
}

export interface Many {
  errors: number;
  reasons: string[];
  peakRssMiB: number | undefined;
}

/** 2,000 streams at the same time, and the most memory the gateway had meanwhile. */
export async function manyStreams(gateway: Gateway): Promise<Many> {
  let peak: number | undefined;
  const timer = setInterval(() => {
    const now = rssMiB(gateway.pid);
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  }, RSS_EVERY_MS);
  try {
    const { errors, reasons } = await client<{ errors: number; reasons: string[] }>("many", gateway);
    return { errors, reasons, peakRssMiB: peak };
  } finally {
    clearInterval(timer);
  }
}

/** How long after a client left the engine knew, for each of 100 clients, in order. */
export async function abortMs(gateway: Gateway, upstreamPort: number): Promise<number[]> {
  const { left } = await client<{ left: Record<string, number> }>("abort", gateway);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const response = await fetch(`http://127.0.0.1:${upstreamPort}/left`);
  const seen = (await response.json()) as Record<string, number>;
  // What the engine never heard of counts as for ever.
  return Object.entries(left)
    .map(([id, leftMs]) => (seen[id] ?? Infinity) - leftMs)
    .sort((a, b) => a - b);
}

async function client<T>(mode: string, { name, url, headers }: Gateway): Promise<T> {
  const script = join(import.meta.dirname, "client.ts");
  const result = await exec(process.execPath, [script, mode, url, JSON.stringify(headers)], {
    timeoutMs: 180_000,
  });
  if (result.code !== 0) throw new Error(`${name}: the streaming client failed:\n${result.stderr}`);
  return lastJson<T>(result.stdout);
}
