import type { Endpoint } from "../../endpoint.ts";
import type { CliContext } from "../context.ts";
import { durationText } from "./time.ts";
import { oneLine } from "./visible.ts";

/** Often enough for a clock that counts seconds. */
const DRAW_EVERY_MS = 200;

/**
 * Waits until an endpoint answers. At a terminal a line on standard error tells what its container is at, and
 * since when; the line is gone afterwards.
 *
 * @throws SpotterError `endpoint_failed`, `timeout`
 */
export async function waitReady(context: CliContext, endpoint: Endpoint): Promise<void> {
  if (endpoint.state === "ready") return;
  const { signal } = context;
  if (!context.isTerminal) return void (await endpoint.waitUntilReady({ signal }));
  const startedMs = performance.now();
  const draw = () => {
    const line = `${oneLine(endpoint.name)} ${startText(endpoint)}, ${durationText(performance.now() - startedMs)}`;
    context.err.write(`\r\u001b[K${context.colors.dim(line)}`);
  };
  const timer = setInterval(draw, DRAW_EVERY_MS);
  draw();
  try {
    await endpoint.waitUntilReady({ signal });
  } finally {
    clearInterval(timer);
    context.err.write("\r\u001b[K");
  }
}

function startText({ record }: Endpoint): string {
  const replica = record.replicas.findLast(({ state }) => state !== "gone" && state !== "draining");
  if (replica === undefined) return `is ${record.state}`;
  return replica.state === "waiting"
    ? `waits for ${replica.waitingFor ?? "capacity"}`
    : `is ${replica.state}`;
}
