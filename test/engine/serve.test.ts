import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JobEventBody } from "../../sdk/schema/job.ts";
import { writeTinyModel } from "./onnx/fixtures/tiny-model.ts";

let dir: string;
let server: Server;
let child: ChildProcess | undefined;
let events: JobEventBody[];
let stale: boolean;
let onEvent: () => void;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-serve-"));
  await writeTinyModel(join(dir, "model"));
  events = [];
  stale = false;
  onEvent = () => undefined;
  server = createServer((request, response) => {
    void (request.method === "POST" ? json(request) : Promise.resolve()).then((body) => {
      const [status, answer] = controlPlane(request.url ?? "", body);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  if (child?.exitCode === null) child.kill("SIGKILL");
  server.close();
  server.closeAllConnections();
  await rm(dir, { recursive: true, force: true });
});

function controlPlane(url: string, body: unknown): [number, unknown] {
  if (url === "/jobs/job-1") {
    const job = { protocol: 1, id: "job-1", attempt: 0, heartbeatEveryMs: 50, threads: 1 };
    return [200, { ...job, kind: "serve", endpoint: "tiny", model: { name: join(dir, "model") } }];
  }
  if (stale)
    return [410, { error: { code: "attempt_stale", kind: "system", message: "A newer attempt runs." } }];
  if (url.endsWith("/heartbeat")) return [200, { cancel: false }];
  const sent = (body as { events: { seq: number; body: JobEventBody }[] }).events;
  events.push(...sent.map((event) => event.body));
  onEvent();
  return [200, { acknowledged: sent.at(-1)?.seq ?? 0 }];
}

/** Starts the entry and waits until it reports its address. */
async function startReady(): Promise<{ address: string; exited: Promise<unknown[]> }> {
  const { port } = server.address() as AddressInfo;
  child = spawn(process.execPath, [fileURLToPath(new URL("../../engine/serve.ts", import.meta.url))], {
    env: {
      SPOTTER_URL: `http://127.0.0.1:${port}`,
      SPOTTER_JOB_ID: "job-1",
      SPOTTER_JOB_TOKEN: "token",
      SPOTTER_WORK_DIR: dir,
    },
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const ready = new Promise<string>((resolve) => {
    onEvent = () => {
      for (const event of events) if (event.type === "ready") resolve(event.address);
    };
  });
  const address = await Promise.race([
    ready,
    exited.then(() => Promise.reject(new Error("It ended early."))),
  ]);
  return { address, exited };
}

it("serves its job, and ends when it is told to", { timeout: 30_000 }, async () => {
  const { address, exited } = await startReady();
  const body = JSON.stringify({ model: "tiny", messages: [{ role: "user", content: "Hi" }], max_tokens: 3 });
  const response = await fetch(`http://${address}/v1/chat/completions`, { method: "POST", body });
  expect(await response.json()).toMatchObject({ object: "chat.completion", model: "tiny" });
  child?.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(events.at(-1)).toEqual({ type: "exit", outcome: "cancelled" });
});

it("ends without a word when a newer attempt owns its job", { timeout: 30_000 }, async () => {
  const { exited } = await startReady();
  stale = true;
  expect(await exited).toEqual([3, null]);
  expect(events.some(({ type }) => type === "exit")).toBe(false);
});
