/**
 * Our gateway between clients and one fixed fast engine, against nginx and Portkey's gateway at the same place,
 * in one run whose rounds take turns, so that a machine that slows down favours nobody. Ours has
 * authentication, limits, counting, metrics and the access log on; the others have nothing of that.
 */
import { firstWaiters } from "./gateway/first-waiters.ts";
import * as gateways from "./gateway/gateways.ts";
import { abortMs, firstTokenMs, manyStreams } from "./gateway/streams.ts";
import { wrk, type Load } from "./gateway/wrk.ts";
import { median, type Figures } from "./figures.ts";

const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 32;
/** Until the code that runs often is compiled: so many requests, or so long where that takes too long. */
const WARM_UP_REQUESTS = 60_000;
const WARM_UP_MS = 25_000;

type Log = (line: string) => void;

export async function run(log: Log): Promise<Figures> {
  const notes: string[] = [];
  if (!(await gateways.hasProgram("wrk", "wrk", log, notes))) return { notes };
  const direct = await gateways.startUpstream();
  const running: gateways.Gateway[] = [direct];
  try {
    const nginx = await gateways.startNginx(direct.address, log, notes);
    const portkey = await gateways.startPortkey(direct.address, log, notes);
    const ours = await gateways.startOurs(direct.address);
    running.push(...[nginx, portkey, ours].filter((gateway) => gateway !== undefined));
    log("warming up");
    for (const gateway of running) await warmUp(gateway);
    const json = await inTurns(running, log, "JSON at 32 connections", (each) =>
      wrk(each, CONNECTIONS, SECONDS),
    );
    const alone = await inTurns(running, log, "JSON at 1 connection", (each) => wrk(each, 1, 2));
    const streams = running.filter((gateway) => gateway !== portkey);
    const first = await inTurns(streams, log, "64 paced streams", firstTokenMs);
    log("2,000 streams");
    const many = await manyStreams(ours);
    if (many.errors > 0) notes.push(`2,000 streams: ${many.reasons.join(" | ")}`);
    log("clients that leave");
    const aborts = await abortMs(ours, direct.port);
    const of = { direct: "direct", ours: "ours", nginx: nginx?.name, portkey: portkey?.name };
    return {
      jsonVsNginx32: ratio(json, of.ours, of.nginx, requestsPerS),
      cpuVsNginx: ratio(json, of.ours, of.nginx, cpuUs),
      jsonVsPortkey32: ratio(json, of.ours, of.portkey, requestsPerS),
      addedP50Ms: added(alone, of.ours, ({ p50Ms }) => p50Ms),
      ttftAddedP50Ms64: added(first, of.ours, (ms) => ms),
      nginxTtftAddedP50Ms64: added(first, of.nginx, (ms) => ms),
      streams2000Errors: many.errors,
      streams2000RssMiB: many.peakRssMiB ?? null,
      abortP99Ms: aborts[Math.ceil(aborts.length * 0.99) - 1] ?? null,
      zeroP95Ms: await firstWaiters(log, notes),
      notes,
    };
  } finally {
    for (const gateway of running) await gateway.stop();
  }
}

async function warmUp(gateway: gateways.Gateway): Promise<void> {
  const untilMs = performance.now() + WARM_UP_MS;
  let requests = 0;
  while (requests < WARM_UP_REQUESTS && performance.now() < untilMs)
    requests += (await wrk(gateway, CONNECTIONS, SECONDS)).requestsPerS * SECONDS;
}

/** Results of every gateway by its name, round by round. */
async function inTurns<T>(
  running: readonly gateways.Gateway[],
  log: Log,
  what: string,
  measure: (gateway: gateways.Gateway) => Promise<T>,
): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>();
  for (let round = 1; round <= ROUNDS; round++) {
    for (const gateway of running) {
      const result = await measure(gateway);
      results.set(gateway.name, [...(results.get(gateway.name) ?? []), result]);
    }
    const line = running.map(({ name }) => `${name} ${shown(results.get(name)?.at(-1))}`);
    log(`${what}, round ${round}: ${line.join("; ")}`);
  }
  return results;
}

/** Median over the rounds of one gateway's figure by another's in the same round. */
function ratio(
  results: Map<string, Load[]>,
  over: string,
  under: string | undefined,
  figure: (load: Load) => number,
): number | null {
  const below = under === undefined ? undefined : results.get(under);
  const above = results.get(over);
  if (below === undefined || above === undefined) return null;
  const ratios = above.map((load, round) => figure(load) / figure(below[round] ?? load));
  return numberOrNull(median(ratios));
}

/** Median over the rounds of what a gateway adds to the engine's own figure in the same round. */
function added<T>(
  results: Map<string, T[]>,
  name: string | undefined,
  figure: (result: T) => number,
): number | null {
  const own = results.get("direct") ?? [];
  const through = name === undefined ? undefined : results.get(name);
  if (through === undefined) return null;
  return numberOrNull(median(through.map((result, round) => figure(result) - figure(own[round] ?? result))));
}

function requestsPerS(load: Load): number {
  return load.requestsPerS;
}

function cpuUs(load: Load): number {
  return load.cpuUs ?? Number.NaN;
}

function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function shown(result: unknown): string {
  if (typeof result === "number") return `${result.toFixed(1)} ms`;
  const { requestsPerS: rate, p50Ms, cpuUs: cpu } = result as Load;
  return `${rate.toFixed(0)}/s p50 ${p50Ms.toFixed(2)} ms cpu ${cpu?.toFixed(0) ?? "?"} us`;
}
