import type * as prom from "prom-client";
import type { RequestRecord } from "./observer.ts";

type PromClient = Pick<typeof prom, "Counter" | "Histogram">;

/** From a cached answer to a generation of ten minutes. */
const DURATION_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** The buckets that vLLM uses for its time to first token, so that both fit one dashboard. */
const FIRST_TOKEN_S = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
];
/** Endpoints that have series of their own; later ones count as "other" until the process starts anew. */
export const MAX_ENDPOINTS = 200;

/** The metrics of requests. Returns what counts a finished one. */
export function requestMetrics(
  { Counter, Histogram }: PromClient,
  registry: prom.Registry,
): (record: RequestRecord) => void {
  const registers = [registry];
  const requests = new Counter({
    name: "spotter_requests_total",
    help: "Finished requests. 499: the client went away first.",
    labelNames: ["method", "route", "endpoint", "status"],
    registers,
  });
  const duration = new Histogram({
    name: "spotter_request_duration_seconds",
    help: "From the request's head to the last byte of the answer.",
    labelNames: ["method", "route", "endpoint"],
    buckets: DURATION_S,
    registers,
  });
  const firstToken = new Histogram({
    name: "spotter_time_to_first_token_seconds",
    help: "From the request's head to the first byte of the answer's body, waiting for a replica included.",
    labelNames: ["endpoint"],
    buckets: FIRST_TOKEN_S,
    registers,
  });
  const queueTime = new Histogram({
    name: "spotter_request_queue_time_seconds",
    help: "How long requests that had to wait for a replica waited.",
    labelNames: ["endpoint"],
    buckets: DURATION_S,
    registers,
  });
  const coldStarts = new Counter({
    name: "spotter_cold_start_requests_total",
    help: "Requests that came while no replica of their endpoint was ready.",
    labelNames: ["endpoint"],
    registers,
  });
  const tokens = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["endpoint"], registers });
  const prompt = tokens("spotter_prompt_tokens_total", "Tokens of prompts, as the engine counts them.");
  const cached = tokens("spotter_prompt_tokens_cached_total", "Those of them taken from the prefix cache.");
  const generated = tokens("spotter_generation_tokens_total", "Tokens generated, as the engine counts them.");
  const known = new Set<string>();

  return (record) => {
    const endpoint = boundedName(known, record.endpoint);
    const { method, route, status, startedAtMs, queuedAtMs, firstByteAtMs, endedAtMs } = record;
    requests.inc({ method, route, endpoint, status });
    duration.observe({ method, route, endpoint }, seconds(startedAtMs, endedAtMs));
    if (record.endpoint === undefined) return;
    if (firstByteAtMs !== undefined) firstToken.observe({ endpoint }, seconds(startedAtMs, firstByteAtMs));
    if (queuedAtMs !== undefined)
      queueTime.observe({ endpoint }, seconds(queuedAtMs, record.admittedAtMs ?? endedAtMs));
    if (record.coldStart) coldStarts.inc({ endpoint });
    if (record.tokens === undefined) return;
    prompt.inc({ endpoint }, record.tokens.input);
    generated.inc({ endpoint }, record.tokens.output);
    if (record.tokens.cached) cached.inc({ endpoint }, record.tokens.cached);
  };
}

/** Names are what launches chose, so their number has no bound of its own; series must have one. */
export function boundedName(known: Set<string>, name: string | undefined): string {
  if (name === undefined) return "";
  if (known.has(name)) return name;
  if (known.size >= MAX_ENDPOINTS) return "other";
  known.add(name);
  return name;
}

/** A clock that was set back in between gives 0. */
function seconds(fromMs: number, untilMs: number): number {
  return Math.max(0, untilMs - fromMs) / 1000;
}
