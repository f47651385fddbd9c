import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createControlPlane, type ControlPlane } from "../../functions/app.ts";
import type { Deps } from "../../functions/deps.ts";
import { FileBlobs } from "../../functions/local/file-blobs.ts";
import { FileSecrets } from "../../functions/local/file-secrets.ts";
import { SqliteStore } from "../../functions/local/sqlite-store.ts";
import { systemIds } from "../../functions/system/system-ids.ts";
import type { Blobs } from "../../functions/ports/blobs.ts";
import type { Isolates } from "../../functions/ports/isolates.ts";
import type { ContainerState } from "../../functions/ports/containers.ts";
import { sha256Of } from "../../functions/records/hash.ts";
import type { Send } from "../../functions/webhooks/send.ts";
import { createEventFiles } from "../../functions/local/event-files.ts";
import type { TrackerHttp } from "../../functions/trackers/tracker-http.ts";
import { fakeClock, type FakeClock } from "./clock.ts";
import { fakeContainers, type FakeContainers } from "./containers.ts";
import { fakeIsolates } from "./isolates.ts";

export const ADMIN_KEY = "sk-spotter-admin-of-this-test";

export interface TestPlane extends ControlPlane {
  clock: FakeClock;
  containers: FakeContainers;
  /** Lines at level warn and error. */
  complaints: string[];
  shutdowns: number;
  /** Calls a route as the admin, or with another Bearer token, or with none (null). */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Response>;
  /** The same, and parses the answer; fails on anything but 2xx. */
  json<T>(method: string, path: string, body?: unknown, token?: string | null): Promise<T>;
  /** Another control plane over the same state, as after a restart. The first one must be closed. */
  restart(): Promise<TestPlane>;
}

export interface TestPlaneParams {
  isolates?: Isolates;
  /** Default: files of the state folder. */
  blobs?: Blobs;
  probe?: (address: string) => Promise<boolean>;
  /** Takes webhooks; by default nobody does. */
  send?: Send;
  /** Takes what trackers are told; by default nobody does. */
  trackerHttp?: TrackerHttp;
  publicUrl?: string;
  config?: Partial<Deps["config"]>;
  firstState?: ContainerState;
  /** A state folder to begin with a copy of. */
  from?: string;
  /** When the test begins, by the plane's clock. */
  startMs?: number;
  /** Ends the plane after the test; vitest's onTestFinished. */
  onEnd: (end: () => Promise<void>) => void;
}

/** A control plane over a real store and blobs in a temporary folder; time and containers are the test's. */
export async function testPlane(params: TestPlaneParams): Promise<TestPlane> {
  const home = mkdtempSync(join(tmpdir(), "spotter-plane-"));
  if (params.from !== undefined) cpSync(params.from, home, { recursive: true });
  const containers = fakeContainers(params.firstState);
  const clock = fakeClock(params.startMs);
  params.onEnd(async () => rmSync(home, { recursive: true, force: true }));
  return open(params, home, containers, clock);
}

async function open(
  params: TestPlaneParams,
  home: string,
  containers: FakeContainers,
  clock: FakeClock,
): Promise<TestPlane> {
  const complaints: string[] = [];
  const complain = (message: string, fields?: Record<string, unknown>) =>
    void complaints.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const deps: Deps = {
    store: new SqliteStore(join(home, "state.db")),
    blobs: params.blobs ?? new FileBlobs(join(home, "blobs")),
    secrets: new FileSecrets(join(home, "secrets.json")),
    containers,
    eventFiles: createEventFiles(home),
    isolates: params.isolates ?? fakeIsolates(),
    clock,
    ids: systemIds(),
    log: { debug: () => {}, info: () => {}, warn: complain, error: complain },
    config: {
      version: "0.0.0-test",
      publicUrl: () => params.publicUrl ?? "http://127.0.0.1:7717",
      home,
      threads: 2,
      heartbeatEveryMs: 1_000,
      leaseMs: 10_000,
      maxAttempts: 3,
      notes: [],
      ...params.config,
    },
  };
  let shutdowns = 0;
  const plane = createControlPlane(deps, {
    rootKeyHash: sha256Of(ADMIN_KEY),
    probe: params.probe ?? (async () => true),
    send: params.send ?? (async () => "nobody is there"),
    trackerHttp: params.trackerHttp ?? (() => Promise.reject(new Error("nobody is there"))),
    shutdown: () => void shutdowns++,
  });
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= (async () => {
      await plane.close();
      await deps.store.close();
    })());
  params.onEnd(close);

  async function call(method: string, path: string, body?: unknown, token: string | null = ADMIN_KEY) {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const raw = body instanceof Uint8Array || typeof body === "string";
    if (body !== undefined && !raw) headers["content-type"] = "application/json";
    const init = { method, headers, ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }) };
    return plane.app.request(path, init);
  }

  return {
    ...plane,
    close,
    clock,
    containers,
    complaints,
    get shutdowns() {
      return shutdowns;
    },
    call,
    async json<T>(method: string, path: string, body?: unknown, token?: string | null): Promise<T> {
      const response = await call(method, path, body, token);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as T;
    },
    async restart() {
      await close();
      return open(params, home, containers, clock);
    },
  };
}
