import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allRoutes } from "../../../functions/app.ts";
import type { Control } from "../../../functions/control.ts";
import type { Upstreams } from "../../../functions/gateway/upstream.ts";
import type { Route } from "../../../functions/http/route.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { errorBody } from "../../../sdk/schema/errors.ts";
import {
  bundleOf,
  deploy,
  FUNCTIONS,
  PUBLIC_URL,
  type Deployment,
  type FunctionName,
} from "../../fakes/lambda-runtime/deploy.ts";
import { zipSize } from "../../fakes/lambda-runtime/zip-size.ts";

/** Called by events, not over HTTP. */
const BY_EVENTS: readonly FunctionName[] = ["key-bootstrap", "reconciler", "scaler"];
const OVER_HTTP = FUNCTIONS.filter((name) => !BY_EVENTS.includes(name));

/** A route of each function that needs a key, a job's token or a session. */
const LOCKED: Record<string, [string, string]> = {
  chat: ["GET", "/v1/models"],
  datasets: ["GET", "/datasets"],
  endpoints: ["GET", "/endpoints"],
  evals: ["GET", "/evals"],
  events: ["GET", "/runs/run-1/events"],
  jobs: ["GET", "/jobs/train-1"],
  keys: ["GET", "/keys"],
  pages: ["GET", "/status"],
  runs: ["GET", "/runs"],
  secrets: ["GET", "/secrets"],
  "user-code": ["GET", "/user-code/x"],
};

let stack: Deployment;
beforeAll(async () => {
  stack = await deploy();
}, 30_000);
afterAll(() => stack.close());

describe("every function", () => {
  it.each(OVER_HTTP)(
    "%s answers health to all, its routes to who may, and nothing past the front door",
    async (name) => {
      const { url } = await stack.get(name);
      const health = await fetch(`${url}/health`);
      expect([health.status, await health.json()]).toEqual([
        200,
        { ok: true, name: "spotter", version: "1.2.3" },
      ]);
      const [method, path] = LOCKED[name] ?? ["", ""];
      const past = await fetch(`${url}${path}`, { method });
      expect(past.status).toBe(403);
      expect(errorBody.parse(await past.json()).error).toMatchObject({
        code: "forbidden",
        where: "x-spotter-origin",
      });
      const locked = await stack.call(name, method, path, undefined, null);
      const text = await locked.text();
      expect([locked.status, text]).toEqual([401, expect.stringContaining('"error"') as string]);
      expect((await stack.get(name)).coldStarts).toBe(1);
    },
    30_000,
  );

  it("is at most 400 kB zipped", async () => {
    const sizes: Record<string, number> = {};
    for (const name of FUNCTIONS) sizes[name] = zipSize(await bundleOf(name));
    expect(Object.entries(sizes).filter(([, bytes]) => bytes > 400_000)).toEqual([]);
    // A bundle without the clients of AWS would be as small, and of no use.
    expect(Math.min(...Object.values(sizes))).toBeGreaterThan(80_000);
  }, 60_000);

  it("has routes that no other has, and together they are all there are", async () => {
    const listed = (routes: Route[]) => routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    // What is asked here is which routes there are; none is called.
    const control = {} as Control;
    const all = listed(allRoutes(control, {} as Upstreams));
    const theirs: string[] = [];
    for (const name of OVER_HTTP) {
      Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });
      const entry = (await import(`../../../functions/lambda/${name}.ts`)) as {
        routes: (control: Control) => Route[];
      };
      theirs.push(...listed(entry.routes(control)));
    }
    // The gateway's own: it is not a function that lives long.
    expect(all.filter((route) => !theirs.includes(route))).toEqual(["GET /runs/:id/events/stream"]);
    expect(theirs.filter((route) => !all.includes(route))).toEqual([]);
    expect(new Set(theirs).size).toBe(theirs.length);
  });
});

describe("the functions of a stack", () => {
  it("make and list keys on the stack's table, with one cold start", async () => {
    const made = await stack.call("keys", "POST", "/keys", { name: "ci", scope: "write" });
    expect(made.status).toBe(201);
    const { key, record } = (await made.json()) as { key: string; record: { id: string } };
    const listed = (await (await stack.call("keys", "GET", "/keys")).json()) as { items: { name: string }[] };
    expect(listed.items.map(({ name }) => name).sort()).toEqual(["admin", "ci"]);
    // Another function knows the key, and knows when it is revoked.
    expect((await stack.call("events", "GET", "/runs/run-x/events", undefined, key)).status).toBe(404);
    expect((await stack.call("keys", "DELETE", `/keys/${record.id}`)).status).toBe(200);
    await expect
      .poll(async () => (await stack.call("events", "GET", "/runs/run-x/events", undefined, key)).status, {
        timeout: 5_000,
      })
      .toBe(401);
    expect((await stack.get("keys")).coldStarts).toBe(1);
  }, 30_000);

  it("take uploads byte for byte", async () => {
    const bytes = Buffer.from(
      `${JSON.stringify({ prompt: [{ role: "user", content: "Grüße \0" }], row: {} })}\n`,
    );
    const { url } = await stack.get("datasets");
    const sha256 = sha256Of(bytes);
    const put = await fetch(`${url}/datasets/${sha256}`, {
      method: "PUT",
      headers: { ...stack.headers, "content-type": "application/octet-stream" },
      body: bytes,
    });
    expect([put.status, await put.json()]).toMatchObject([200, { sha256, bytes: bytes.length }]);
  }, 30_000);

  it("wake the reconciler, which starts what was asked for", async () => {
    const launched = await stack.call("endpoints", "POST", "/endpoints", { model: { name: "spotter/nano" } });
    expect([launched.status, await launched.json()]).toMatchObject([200, { state: "creating", desired: 1 }]);
    const done = (operation: string) => stack.aws.calls.filter((call) => call.operation === operation).length;
    expect(done("Invoke")).toBeGreaterThan(0);
    await expect.poll(() => done("RunTask"), { timeout: 15_000 }).toBe(1);
    // The schedule finds nothing more to do, nor do two at once.
    const reconciler = await stack.get("reconciler");
    await Promise.all([reconciler.invoke({}), reconciler.invoke({ source: "aws.events" })]);
    expect(done("RunTask")).toBe(1);
  }, 40_000);

  it("open a session of the pages, and serve their own files", async () => {
    const made = (await (await stack.call("pages", "POST", "/ui-codes", {})).json()) as { url: string };
    const link = new URL(made.url);
    // Links lead to the public address, never to the function's own.
    expect(link.origin).toBe(PUBLIC_URL);
    const { url } = await stack.get("pages");
    const headers = { "x-spotter-origin": stack.headers["x-spotter-origin"] };
    const opened = await fetch(`${url}${link.pathname}${link.search}`, { headers, redirect: "manual" });
    const cookie = opened.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect([opened.status, cookie]).toEqual([
      expect.any(Number),
      expect.stringContaining("spotter_session="),
    ]);
    const page = await fetch(`${url}/ui`, { headers: { ...headers, cookie } });
    const script = /\/ui\/assets\/[0-9a-f]+\/main\.js/.exec(await page.text())?.[0] ?? "none";
    const file = await fetch(`${url}${script}`, { headers });
    expect([page.status, file.status]).toEqual([200, 200]);
    expect(file.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await file.text()).length).toBeGreaterThan(50_000);
  }, 30_000);

  it("let the scaler go at once while nothing is up", async () => {
    const idle = await deploy();
    try {
      const startedMs = performance.now();
      expect(await (await idle.get("scaler")).invoke({})).toEqual({ wasElected: true });
      expect(performance.now() - startedMs).toBeLessThan(10_000);
    } finally {
      await idle.close();
    }
  }, 30_000);
});
