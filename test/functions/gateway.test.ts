import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { gatewayDocuments } from "../../functions/autoscaler/gateway-records.ts";
import { DynamoStore } from "../../functions/aws/dynamo-store.ts";
import { gatewaySettings } from "../../functions/aws/gateway-settings.ts";
import { KEYS, newKey } from "../../functions/keys/key-ring.ts";
import { bundle } from "../../infra/bundle.ts";
import { FAKE_AWS, startDynamo, type FakeDynamo } from "../fakes/dynamo.ts";

let dynamo: FakeDynamo;
beforeAll(async () => {
  dynamo = await startDynamo();
});
afterAll(async () => {
  await dynamo.stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Started {
  child: ChildProcess;
  store: DynamoStore;
  base: string;
  output: () => string;
}

/** The entry as the container has it. */
async function built(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = await bundle(new URL("../../functions/gateway.ts", import.meta.url));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, "index.mjs");
}

async function start(entry: string, changes: Record<string, string> = {}): Promise<Started> {
  const table = await dynamo.createTable();
  const port = await freePort();
  const child = spawn(process.execPath, [entry], {
    env: {
      PATH: process.env["PATH"],
      PORT: String(port),
      SPOTTER_VERSION: "0.0.0-test",
      SPOTTER_STACK: "spotter-test",
      SPOTTER_URL: "https://spotter.example",
      SPOTTER_TABLE: table,
      SPOTTER_DRAIN_ACCEPT_MS: "0",
      AWS_ENDPOINT_URL: dynamo.endpoint,
      AWS_REGION: FAKE_AWS.region,
      AWS_ACCESS_KEY_ID: FAKE_AWS.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: FAKE_AWS.credentials.secretAccessKey,
      ...changes,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const store = new DynamoStore({ table, client: dynamo.client() });
  return { child, store, base: `http://127.0.0.1:${port}`, output: () => output };
}

it("runs from its bundle: is found by others, answers, and ends on SIGTERM with nothing left", async () => {
  const { child, store, base, output } = await start(await built());
  await vi.waitFor(() => expect(output()).toContain("gateway listens"), { timeout: 20_000, interval: 50 });
  expect(await gatewayDocuments(store)).toHaveLength(1);
  expect(await (await fetch(`${base}/health`)).json()).toMatchObject({ ok: true, version: "0.0.0-test" });
  const { key, hash, id } = newKey("0".repeat(48));
  const record = { v: 1, id, name: "web", scope: "chat", createdAtMs: 1 };
  await store.put({ partition: KEYS, sort: id }, { v: 1, hash, record });
  const headers = { authorization: `Bearer ${key}` };
  expect(await (await fetch(`${base}/v1/models`, { headers })).json()).toEqual({ object: "list", data: [] });
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];
  expect([code, output().includes('"error"')]).toEqual([0, false]);
  expect(await gatewayDocuments(store)).toEqual([]);
  expect((await store.query("leases")).items).toMatchObject([{ value: { holder: "" } }]);
});

it("says what is wrong with its environment, and ends with 1", async () => {
  const { child, output } = await start("functions/gateway.ts", { PORT: "http" });
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(1);
  expect(JSON.parse(output())).toMatchObject({ error: { code: "aws_config_invalid", where: "PORT" } });
});

describe("the environment of a gateway", () => {
  it("says how long requests may be held", () => {
    expect(gatewaySettings({}).holds.jsonMs).toBe(110_000);
    expect(gatewaySettings({ SPOTTER_FRONT_DOOR: "direct" }).holds.jsonMs).toBe(280_000);
    expect(() => gatewaySettings({ SPOTTER_FRONT_DOOR: "none" })).toThrow("SPOTTER_FRONT_DOOR");
  });

  it("leaves Fargate's two minutes enough room", () => {
    const { acceptMs, finishMs } = gatewaySettings({}).drainTimes ?? { acceptMs: 0, finishMs: Infinity };
    expect(acceptMs + finishMs).toBeLessThan(115_000);
  });
});
