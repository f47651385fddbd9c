import { build } from "esbuild";
import { Miniflare, NoOpLog } from "miniflare";
import { afterAll, beforeAll, describe } from "vitest";
import { listening } from "../../fakes/listening.ts";
import { ADMIN_KEY, memoryPlane } from "./memory-plane.ts";

export interface Home {
  /** Calls a route as the admin, or with another Bearer token, or with none (null). */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Response>;
  /** The same, and parses the answer; fails on anything but 2xx. */
  json<T>(method: string, path: string, body?: unknown, token?: string | null): Promise<T>;
}

type Fetch = (request: Request) => Response | Promise<Response>;
type Open = (onEnd: (end: () => Promise<void>) => void) => Promise<Fetch>;

const HOMES: Record<string, Open> = {
  "in process": async (onEnd) => {
    const plane = memoryPlane();
    onEnd(() => plane.close());
    return (request) => plane.app.fetch(request);
  },
  "on the Node listener": async (onEnd) => {
    const plane = memoryPlane();
    onEnd(() => plane.close());
    const url = await listening(plane, onEnd);
    return async (request) => fetch(url + pathOf(request), await initOf(request));
  },
  "in miniflare": async (onEnd) => {
    const worker = new Miniflare({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      log: new NoOpLog(),
      compatibilityDate: "2026-04-01",
      compatibilityFlags: ["nodejs_compat"],
      modules: [{ type: "ESModule", path: "worker.mjs", contents: await bundledWorker() }],
    });
    onEnd(() => worker.dispose());
    const { origin } = await worker.ready;
    return async (request) => fetch(origin + pathOf(request), await initOf(request));
  },
};

/** The same tests against the same control plane, wherever it may run. */
export function describeMatrix(name: string, tests: (home: () => Home) => void): void {
  describe.each(Object.entries(HOMES))(`${name} %s`, (_, open) => {
    let home: Home;
    const ends: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      home = homeOf(await open((end) => ends.push(end)));
    }, 60_000);
    afterAll(async () => {
      for (const end of ends.reverse()) await end();
    });
    tests(() => home);
  });
}

function homeOf(send: Fetch): Home {
  const call: Home["call"] = async (method, path, body, token = ADMIN_KEY) => {
    const headers = new Headers(token === null ? {} : { authorization: `Bearer ${token}` });
    const isText = typeof body === "string";
    if (body !== undefined && !isText) headers.set("content-type", "application/json");
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    };
    return send(new Request(`http://127.0.0.1:7717${path}`, init));
  };
  return {
    call,
    async json<T>(method: string, path: string, body?: unknown, token?: string | null) {
      const response = await call(method, path, body, token);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as T;
    },
  };
}

function pathOf(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return pathname + search;
}

async function initOf(request: Request): Promise<RequestInit> {
  const { method, headers } = request;
  const body = request.body === null ? undefined : await request.arrayBuffer();
  return { method, headers, redirect: "manual", ...(body && { body }) };
}

/** What a Worker cannot have is loaded only by routes that are not asked here. */
async function bundledWorker(): Promise<string> {
  const result = await build({
    entryPoints: [new URL("worker.ts", import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    conditions: ["workerd", "worker", "import"],
    mainFields: ["module", "main"],
    external: ["node:*", "esbuild", "undici", "prom-client", "@opentelemetry/*"],
    logLevel: "silent",
  });
  return result.outputFiles[0]?.text ?? "";
}
