import { describe, expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../sdk/schema/key.ts";
import { allRoutes } from "../../functions/app.ts";
import { createUpstreams } from "../../functions/gateway/upstream.ts";
import { testPlane } from "../fakes/control-plane.ts";

/** Everything that answers without credentials. A route that is added here needs a reason. */
const OPEN = [
  "GET /", // leads to /ui, which asks for the session
  "GET /health", // says the version and nothing else
  "GET /healthz", // the same, where gateways are asked
  "GET /ui/assets/:hash/:name", // the program's own script, stylesheet and icon
  "GET /ui/open", // the one-time code is the credential
  "OPTIONS /detokenize", // as below
  "OPTIONS /tokenize", // as below
  "OPTIONS /v1/*", // browsers send no credentials with a preflight
];

describe("the routes", () => {
  it("refuse everybody without credentials, except the named few (70)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const routes = plane.app.routes.filter(({ method, path }) => !(method === "ALL" && path === "/*"));
    expect(routes.length).toBeGreaterThan(40);
    const open: string[] = [];
    for (const { method, path } of routes) {
      const concrete = path.replaceAll(/:\w+/g, "x").replace("*", "x");
      const response = await plane.app.request(concrete, { method });
      if (response.status !== 401) open.push(`${method} ${path}`);
    }
    expect(open.sort()).toEqual(OPEN);
  });

  it("are all registered from the one list, with an access each", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const upstreams = createUpstreams();
    onTestFinished(() => upstreams.close());
    const listed = allRoutes(plane.control, upstreams).map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    const registered = plane.app.routes.map(({ method, path }) => `${method} ${path}`);
    expect(registered.filter((route) => route !== "ALL /*").sort()).toEqual(listed.sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  it("keep keys to their scope", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const make = async (scope: string) =>
      (await plane.json<CreatedKey>("POST", "/keys", { name: scope, scope })).key;
    const write = await make("write");
    const chat = await make("chat");
    const status = async (key: string, method: string, path: string) =>
      (await plane.call(method, path, undefined, key)).status;
    expect(await status(write, "GET", "/runs")).toBe(200);
    expect(await status(write, "GET", "/keys")).toBe(403);
    expect(await status(write, "POST", "/shutdown")).toBe(403);
    expect(await status(chat, "GET", "/runs")).toBe(403);
    expect(await status(chat, "GET", "/v1/models")).toBe(200);
  });
});

describe("the app", () => {
  it("answers only to its own host names", async () => {
    const plane = await testPlane({ onEnd: onTestFinished, publicUrl: "http://127.0.0.1:7717" });
    const status = async (host: string) => (await plane.app.request("/health", { headers: { host } })).status;
    expect(await status("127.0.0.1:7717")).toBe(200);
    expect(await status("localhost:1234")).toBe(200);
    expect(await status("evil.example:7717")).toBe(403);
    expect(await status("127.0.0.1.evil.example")).toBe(403);
  });

  it("hides what went wrong inside and names the request", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.store.query = async () => {
      throw new TypeError("secret detail");
    };
    const response = await plane.call("GET", "/runs");
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain("secret detail");
    const id = response.headers.get("x-request-id") ?? "none";
    expect(JSON.parse(text)).toMatchObject({
      error: { code: "internal", message: expect.stringContaining(id) as string },
    });
    expect(plane.complaints.join()).toContain("secret detail");
    expect(plane.complaints.join()).toContain(id);
  });

  it("lists every finding of a bad body with its place, and refuses what is too large", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const bad = await plane.call("POST", "/endpoints", { modell: { name: "x" }, public: "yes" });
    expect(bad.status).toBe(400);
    const { error } = (await bad.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("invalid_input");
    expect(error.message).toMatch(/modell: unknown key; did you mean "model"\?/);
    expect(error.message).toMatch(/public/);
    const large = await plane.call("POST", "/keys", "x".repeat(9 * 1024 * 1024));
    expect(large.status).toBe(413);
    const broken = await plane.call("POST", "/keys", "{");
    expect(await broken.json()).toMatchObject({ error: { code: "invalid_input" } });
  });

  it("says which route does not exist, in the shape of its neighbours", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    expect(await (await plane.call("GET", "/nowhere")).json()).toMatchObject({
      error: { code: "not_found", message: "There is no route GET /nowhere." },
    });
    const openai = (await (await plane.call("POST", "/v1/embeddings")).json()) as { error: { type: string } };
    expect(openai.error.type).toBe("invalid_request_error");
  });

  it("says what runs here, and ends when an admin asks", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" } });
    expect(await plane.json("GET", "/status")).toMatchObject({
      version: "0.0.0-test",
      endpoints: 1,
      activeRuns: 0,
    });
    expect(await plane.json("GET", "/health", undefined, null)).toEqual({
      ...{ ok: true, name: "spotter", version: "0.0.0-test" },
    });
    await plane.json("POST", "/shutdown");
    expect(plane.shutdowns).toBe(1);
  });
});
