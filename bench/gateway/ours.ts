/**
 * Our gateway as the daemon runs it, with one endpoint whose only replica is the engine at argv[2]. Everything
 * is on: keys with limits, counting, metrics, the access log in a file. Prints `{ port, key }`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createControlPlane } from "../../functions/app.ts";
import { newKey } from "../../functions/keys/key-ring.ts";
import { createHttpServer } from "../../functions/http/http-server.ts";
import { openLocalDeps } from "../../functions/local/local-deps.ts";
import { fakeContainers } from "../../test/fakes/containers.ts";
import { MODEL } from "./fixed.ts";

const upstream = process.argv[2] ?? "";
const home = mkdtempSync(join(tmpdir(), "spotter-bench-gateway-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit(0));

let port = 0;
const publicUrl = () => `http://127.0.0.1:${port}`;
const containers = fakeContainers();
const deps = { ...(await openLocalDeps({ home, publicUrl, environment: {} })), containers };
const { key: adminKey, hash } = newKey(deps.ids.secret(24));
const plane = createControlPlane(deps, { rootKeyHash: hash, shutdown: () => process.exit(0) });
const server = createHttpServer(plane);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
port = (server.address() as AddressInfo).port;

const scaling = { targetConcurrency: 100_000 };
await call("POST", "/endpoints", { model: { name: "spotter/nano" }, name: MODEL, scaling });
await plane.reconciler.settle();
const jobId = containers.launched[0]?.jobId ?? "";
const token = containers.environmentOf(jobId).SPOTTER_JOB_TOKEN;
const heartbeat = () => call("POST", `/jobs/${jobId}/heartbeat`, { attempt: 1 }, token);
await heartbeat();
const events = [{ seq: 1, body: { type: "ready", address: upstream } }];
await call("POST", `/jobs/${jobId}/events`, { attempt: 1, events }, token);
await plane.reconciler.settle();
setInterval(() => void heartbeat(), 2_000);

const limits = { requestsPerMinute: 1e9, tokensPerMinute: 1e12, tokensPerMonth: 1e12 };
const { key } = await call<{ key: string }>("POST", "/keys", { name: "bench", scope: "chat", limits });
process.stdout.write(`${JSON.stringify({ port, key, adminKey })}\n`);

async function call<T>(method: string, path: string, body: unknown, bearer = adminKey): Promise<T> {
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
  const response = await plane.app.request(path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
