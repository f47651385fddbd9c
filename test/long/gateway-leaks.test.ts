import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished, vi } from "vitest";
import { createHttpServer } from "../../functions/http/http-server.ts";
import { testPlane } from "../fakes/control-plane.ts";
import { fakeJob } from "../fakes/job.ts";

const REQUESTS = 100_000;
/** Until code, pools and caches have their size. */
const WARM_UP = 20_000;
const CLIENTS = 48;
/** So that some wait, and leave while they wait. */
const TARGET_CONCURRENCY = 16;
const SEED = 20_260_101;

const CHUNK = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n';
const END = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const ANSWER = '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}';

it("serves 100,000 requests, many of them left or broken off, and keeps nothing of them", async () => {
  const random = seeded(SEED);
  const plane = await testPlane({ onEnd: onTestFinished });
  const engine = await listen(
    createServer((asked, answer) => {
      let body = "";
      asked.on("data", (chunk: Buffer) => (body += chunk.toString()));
      asked.on("end", () => {
        const kind = random();
        if (kind < 0.02) return answer.destroy();
        if (!body.includes('"stream":true')) {
          answer.setHeader("content-type", "application/json");
          setImmediate(() => answer.end(ANSWER));
          return;
        }
        answer.setHeader("content-type", "text/event-stream");
        answer.write(CHUNK);
        setImmediate(() => {
          answer.write(CHUNK);
          if (kind < 0.04) answer.destroy();
          else setImmediate(() => answer.end(END));
        });
      });
    }),
  );
  const scaling = { targetConcurrency: TARGET_CONCURRENCY };
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base", scaling });
  await plane.reconciler.settle();
  const job = fakeJob(plane, "serve-base-r1-1", 1);
  await job.heartbeat();
  await job.report({ type: "ready", address: `127.0.0.1:${engine.port}` });
  await plane.reconciler.settle();
  const limits = { requestsPerMinute: 1e9, tokensPerMinute: 1e12 };
  const { key } = await plane.json<{ key: string }>("POST", "/keys", { name: "k", scope: "chat", limits });

  const gateway = await listen(createHttpServer(plane));
  const statuses = new Map<number, number>();
  let begun = 0;
  plane.control.observer.add({
    begin: () => {
      begun++;
      return undefined;
    },
    ended: ({ status }) => void statuses.set(status, (statuses.get(status) ?? 0) + 1),
  });
  const warnings: string[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning.message);
  process.on("warning", onWarning);
  onTestFinished(() => void process.removeListener("warning", onWarning));

  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  onTestFinished(() => agent.destroy());
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const options = { port: gateway.port, path: "/v1/chat/completions", method: "POST", headers, agent };

  function ask(): Promise<void> {
    const stream = random() < 0.5;
    const leaves = random() < 0.3;
    const afterMs = random() * 8;
    return new Promise((resolve) => {
      const sent = request(options, (response) => {
        response.resume();
        response.on("error", () => undefined);
        response.on("close", () => resolve());
        // Half of those that leave do it in the middle of the answer.
        if (leaves && afterMs > 4) response.once("data", () => sent.destroy());
      });
      sent.on("error", () => resolve());
      sent.on("close", () => resolve());
      sent.end(JSON.stringify({ model: "base", messages: [{ role: "user", content: "hi" }], stream }));
      if (leaves && afterMs <= 4) setTimeout(() => sent.destroy(), afterMs);
    });
  }

  async function many(count: number): Promise<void> {
    let left = count;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (left-- > 0) await ask();
      }),
    );
    await vi.waitFor(() => expect(sumOf(statuses)).toBe(begun), 10_000);
  }

  await many(WARM_UP);
  const before = heapBytes();
  const timersBefore = plane.clock.pending;
  await many(REQUESTS - WARM_UP);
  const grown = heapBytes() - before;

  // A client that left before its request was read is in no book; nearly all are.
  expect(begun).toBeGreaterThan(REQUESTS * 0.9);
  expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 2);
  expect(statuses.get(499)).toBeGreaterThan(REQUESTS / 100);
  expect(plane.control.load.snapshot("base")).toMatchObject({ inFlight: 0, queued: 0 });
  expect(plane.control.load.snapshot("base").inFlightByReplica.size).toBe(0);
  expect(plane.clock.pending).toBeLessThanOrEqual(timersBefore + 1);
  expect(warnings).toEqual([]);
  agent.destroy();
  await vi.waitFor(async () => expect(await gateway.connections()).toBe(0), 10_000);
  // Those to the engine are kept for the next requests, one for each that ran at the same time.
  expect(await engine.connections()).toBeLessThanOrEqual(TARGET_CONCURRENCY * 2);
  // Less than 25 bytes for each request: what is left is noise, not a record of them.
  expect(grown).toBeLessThan((REQUESTS - WARM_UP) * 25);
  // Slots are all free: as many as there ever were are taken at once.
  await many(TARGET_CONCURRENCY * 4);
  expect(plane.complaints).toEqual([]);
}, 1_800_000);

async function listen(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4_096, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { port: (server.address() as AddressInfo).port, connections };
}

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let i = 0; i < 3; i++) collect();
  return process.memoryUsage().heapUsed;
}

function sumOf(counts: Map<number, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
