/**
 * 200 clients ask an endpoint of spotter/nano that sleeps at zero replicas, all at once, through a real daemon:
 * how long until 95 of 100 have their first token.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { DAEMON_FLAGS } from "../../sdk/local/node-program.ts";
import { median } from "../figures.ts";
import { start } from "./process.ts";

const CLIENTS = 200;
const ROUNDS = 3;
const NAME = "sleeper";
const ASLEEP_MS = 60_000;

/** Median over three rounds of the 95th percentile. */
export async function firstWaiters(log: (line: string) => void, notes: string[]): Promise<number | null> {
  const home = mkdtempSync(join(tmpdir(), "spotter-bench-zero-"));
  const program = join(import.meta.dirname, "../../dist/functions/node.js");
  const env = { ...process.env, SPOTTER_HOME: home };
  const daemon = start(process.execPath, [...DAEMON_FLAGS, program, "--port", "0"], { env });
  try {
    await daemon.firstLine;
    const { url, adminKey } = JSON.parse(await readFile(join(home, "daemon.json"), "utf8")) as {
      url: string;
      adminKey: string;
    };
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await fetch(url + path, init);
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    const scaling = { min: 0, max: 1, idleTimeoutMs: 1_000, scaleDownWindowMs: 0, targetConcurrency: 32 };
    await call("POST", "/endpoints", { model: { name: "spotter/nano" }, name: NAME, scaling });
    const p95s: number[] = [];
    // The first round fills the file cache and is not counted.
    for (let round = 0; round <= ROUNDS; round++) {
      await untilAsleep(call);
      const times = await Promise.all(Array.from({ length: CLIENTS }, () => firstTokenMs(url, headers)));
      times.sort((a, b) => a - b);
      const p95 = times[Math.ceil(CLIENTS * 0.95) - 1] ?? Number.NaN;
      log(`200 clients at zero replicas, round ${round}: p95 ${p95.toFixed(0)} ms`);
      if (round > 0) p95s.push(p95);
    }
    return median(p95s);
  } catch (error) {
    notes.push(`200 clients at zero replicas: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  } finally {
    await daemon.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function untilAsleep(call: (method: string, path: string) => Promise<unknown>): Promise<void> {
  const untilMs = performance.now() + ASLEEP_MS;
  for (;;) {
    const endpoint = (await call("GET", `/endpoints/${NAME}`)) as { replicas: unknown[] };
    if (endpoint.replicas.length === 0) return;
    if (performance.now() > untilMs) throw new Error("the endpoint did not go to sleep");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function firstTokenMs(url: string, headers: Record<string, string>): Promise<number> {
  const messages = [{ role: "user", content: "Write a haiku about rain." }];
  const body = JSON.stringify({ model: NAME, messages, max_tokens: 8, stream: true });
  const sentMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat/completions`, { method: "POST", headers, agent: false });
    sent.once("error", reject);
    sent.once("response", (response) => {
      let text = "";
      let firstMs: number | undefined;
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (firstMs === undefined && /"content":"[^"]/.test(text)) firstMs = performance.now() - sentMs;
      });
      response.once("close", () => {
        if (firstMs !== undefined && text.includes("[DONE]")) resolve(firstMs);
        else reject(new Error(`${response.statusCode} ${text.slice(-300)}`));
      });
    });
    sent.end(body);
  });
}
