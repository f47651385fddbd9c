/**
 * A state folder with 100,000 runs: how many documents a second are written, and how long `GET /runs` takes,
 * with and without a filter, near the newest and deep in the list, over HTTP from a daemon's own listener.
 */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { createControlPlane } from "../functions/app.ts";
import { openLocalDeps } from "../functions/local/local-deps.ts";
import { newKey } from "../functions/keys/key-ring.ts";
import { indexesOf, runKey, type RunDocument } from "../functions/runs/records.ts";
import type { Run, RunState } from "../sdk/schema/run.ts";
import type { Figures } from "./figures.ts";

const RUNS = 100_000;
const REQUESTS = 400;
/** Most runs of an old gym have ended, well or not. */
const STATES: readonly RunState[] = ["succeeded", "succeeded", "succeeded", "failed", "cancelled"];

export async function run(log: (line: string) => void): Promise<Figures> {
  const home = await mkdtemp(join(tmpdir(), "spotter-bench-store-"));
  let port = 0;
  const publicUrl = () => `http://127.0.0.1:${port}`;
  const deps = await openLocalDeps({ home, publicUrl, environment: {} });
  const { key, hash } = newKey(deps.ids.secret(24));
  const plane = createControlPlane(deps, { rootKeyHash: hash, shutdown: () => undefined });
  const server = createAdaptorServer({ fetch: plane.app.fetch });
  try {
    const startedMs = performance.now();
    for (let index = 0; index < RUNS; index++) {
      const document = runDocument(index);
      await plane.control.store.put(runKey(document.run.id), document, { indexes: indexesOf(document) });
    }
    const putsPerS = (RUNS * 1_000) / (performance.now() - startedMs);
    log(`${RUNS} runs stored, ${putsPerS.toFixed(0)} a second`);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    const lists = await listTimes(publicUrl(), key);
    return { putsPerS, listP95Ms: percentile(lists, 0.95), listP50Ms: percentile(lists, 0.5) };
  } finally {
    server.close();
    await plane.close();
    await deps.close();
    await rm(home, { recursive: true });
  }
}

/** Pages of 100, walked from the newest; every second walk is filtered by state. */
async function listTimes(url: string, key: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${key}` };
  const times: number[] = [];
  for (const query of ["", "state=failed", "state=succeeded", "state=running"]) {
    let after: string | undefined;
    for (let request = 0; request < REQUESTS / 4; request++) {
      const search = new URLSearchParams(`${query}&limit=100`);
      if (after !== undefined) search.set("after", after);
      const startedMs = performance.now();
      const response = await fetch(`${url}/runs?${search.toString()}`, { headers });
      const page = (await response.json()) as { items?: unknown[]; next?: string };
      times.push(performance.now() - startedMs);
      if (!response.ok || page.items === undefined) throw new Error(`GET /runs answered ${response.status}`);
      after = page.next;
    }
  }
  return times;
}

function runDocument(index: number): RunDocument {
  const id = `run-${index.toString(36).padStart(26, "0")}`;
  const state = STATES[index % STATES.length] ?? "succeeded";
  const failure = { code: "run_failed", message: "The reward gave no verdict.", hint: "See its last lines." };
  const run: Run = {
    v: 1,
    id,
    name: `experiment ${index}`,
    tags: ["bench"],
    kind: "rl",
    model: "spotter/nano",
    state,
    step: 60,
    steps: 60,
    attempt: 1,
    cancelRequested: false,
    ...(state === "failed" && { failure }),
    metrics: { "reward/mean": index / RUNS, "train/loss": 0.5, "train/kl": 0.01, "rollout/tokens": 4096 },
    createdAtMs: 1_700_000_000_000 + index,
    startedAtMs: 1_700_000_000_000 + index,
    endedAtMs: 1_700_000_060_000 + index,
  };
  return { v: 1, run, losses: 0 };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
