import { expect, it } from "vitest";
import { allRoutes } from "../../../functions/app.ts";
import { createUpstreams } from "../../../functions/gateway/upstream.ts";
import type { DatasetRecord } from "../../../sdk/schema/dataset.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { DATASET, DATASET_SHA, preparedSpec } from "../../fakes/run-spec.ts";
import { memoryPlane } from "./memory-plane.ts";
import { describeMatrix } from "./matrix.ts";

/** Of these and of `/ui` app.test.ts says why. */
const OPEN = [
  "GET /",
  "GET /health",
  "GET /healthz",
  "OPTIONS /detokenize",
  "OPTIONS /tokenize",
  "OPTIONS /v1/*",
];

interface Listed {
  items: { id: string; name: string }[];
  next?: string;
}

describeMatrix("the control plane", (home) => {
  it("says that it is well", async () => {
    const response = await home().call("GET", "/health", undefined, null);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toEqual({ ok: true, name: "spotter", version: "0.0.0-test" });
  });

  it("refuses everybody without credentials, on every route (70)", async () => {
    const open: string[] = [];
    for (const { method, path } of await routes()) {
      const response = await home().call(
        method,
        path.replaceAll(/:\w+/g, "x").replace("*", "x"),
        undefined,
        null,
      );
      await response.arrayBuffer();
      if (response.status !== 401) open.push(`${method} ${path}`);
    }
    expect(open.sort()).toEqual(OPEN);
  });

  it("keeps keys to their scope", async () => {
    const { key } = await home().json<CreatedKey>("POST", "/keys", { name: "web", scope: "chat" });
    expect((await home().call("GET", "/runs", undefined, key)).status).toBe(403);
    expect((await home().call("GET", "/v1/models", undefined, key)).status).toBe(200);
    expect((await home().call("GET", "/runs", undefined, "sk-wrong")).status).toBe(401);
  });

  it.each([
    ["GET", "/nowhere", undefined, 404, "not_found"],
    ["GET", "/runs/nope", undefined, 404, "not_found"],
    ["GET", "/runs/nope/events", undefined, 404, "not_found"],
    ["POST", "/endpoints", { modell: {} }, 400, "invalid_input"],
    ["POST", "/keys", "{", 400, "invalid_input"],
    ["PUT", "/datasets/short", DATASET, 400, "invalid_input"],
  ])("answers %s %s with its code", async (method, path, body, status, code) => {
    const response = await home().call(method, path, body);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
    expect(response.headers.get("x-request-id")).toBeTruthy();
  });

  it("has the shape of OpenAI's errors under /v1", async () => {
    const response = await home().call("POST", "/v1/embeddings", {});
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  });

  it("launches and lists endpoints", async () => {
    await home().json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "first" });
    await home().json("POST", "/endpoints", {
      model: { name: "spotter/nano" },
      name: "second",
      public: true,
    });
    const { items } = await home().json<Listed>("GET", "/endpoints");
    expect(items.map(({ name }) => name).sort()).toEqual(["first", "second"]);
    expect(await home().json("GET", "/endpoints/second")).toMatchObject({ name: "second", public: true });
  });

  it("takes datasets in, streamed, and tells about them", async () => {
    const put = await home().json<DatasetRecord>("PUT", `/datasets/${DATASET_SHA}?name=topics`, DATASET);
    expect(put).toMatchObject({ sha256: DATASET_SHA, rows: 3, name: "topics" });
    expect(await home().json("GET", `/datasets/${DATASET_SHA}`)).toEqual(put);
    expect((await home().json<{ items: unknown[] }>("GET", "/datasets")).items).toEqual([put]);
  });

  it("launches runs, and pages through them and their events", async () => {
    const spec = await preparedSpec(home());
    const ids: string[] = [];
    for (let i = 0; i < 3; i++)
      ids.push((await home().json<{ run: { id: string } }>("POST", "/runs", spec)).run.id);
    const first = await home().json<Listed>("GET", "/runs?limit=2");
    expect(first.items.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const cursor = encodeURIComponent(first.next ?? "");
    const second = await home().json<Listed>("GET", `/runs?limit=2&after=${cursor}`);
    expect([second.items.map(({ id }) => id), second.next]).toEqual([[ids[0]], undefined]);

    const events = (after: number) =>
      home().json<RunEventPage>("GET", `/runs/${ids[0]}/events?after=${after}`);
    const { events: all, next } = await events(0);
    expect(all[0]).toMatchObject({ seq: 1, body: { type: "state", state: "queued" } });
    // The run may have gone on meanwhile.
    expect((await events(1)).events.slice(0, all.length - 1)).toEqual(all.slice(1));
    expect((await events(next)).events.filter(({ seq }) => seq <= next)).toEqual([]);
  });
});

async function routes(): Promise<{ method: string; path: string }[]> {
  const plane = memoryPlane();
  const upstreams = createUpstreams();
  const all = allRoutes(plane.control, upstreams).map(({ method, path }) => ({
    method: method.toUpperCase(),
    path,
  }));
  await upstreams.close();
  await plane.close();
  expect(all.length).toBeGreaterThan(40);
  // Pages need their script and style, which are files beside the program: a Worker has none.
  return all.filter(({ path }) => !/^\/ui(\/|$)/.test(path));
}
