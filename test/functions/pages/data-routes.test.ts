import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { RunNews } from "../../../functions/pages/views/news.ts";
import type { Overview } from "../../../functions/pages/views/home-view.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { session } from "../../fakes/session.ts";
import { fakeUpstream } from "../../fakes/upstream.ts";

const OWN = "http://127.0.0.1:7717";

/** Messages of an event stream, one at a time. */
async function open<T>(plane: TestPlane, cookie: string, path: string, headers: Record<string, string> = {}) {
  const response = await plane.app.request(path, { headers: { cookie, ...headers } });
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  onTestFinished(() => reader?.cancel());
  return async (): Promise<{ id: string | undefined; news: T } | undefined> => {
    const bytes = (await reader?.read())?.value as Uint8Array | undefined;
    const text = new TextDecoder().decode(bytes);
    const data = /^data: (.*)$/m.exec(text)?.[1];
    return data === undefined
      ? undefined
      : { id: /^id: (.*)$/m.exec(text)?.[1], news: JSON.parse(data) as T };
  };
}

async function post(plane: TestPlane, path: string, headers: Record<string, string>, body?: unknown) {
  const init = { method: "POST", headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return plane.app.request(path, init);
}

describe("what the pages do with their cookie", () => {
  it("is refused when another page sends it, whatever the browser says of that page", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane);
    const { cookie } = await session(plane);
    const path = `/ui/api/runs/${id}/cancel`;
    const foreign: Record<string, string>[] = [
      {},
      { origin: "null" },
      { origin: "http://127.0.0.1:3000" }, // another program of this machine gets the cookie, too
      { origin: "https://evil.example" },
      { origin: OWN, "sec-fetch-site": "same-site" },
      { origin: OWN, "sec-fetch-site": "cross-site" },
    ];
    for (const headers of foreign) {
      const response = await post(plane, path, { cookie, ...headers });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "forbidden" } });
    }
    expect((await post(plane, path, { origin: OWN })).status).toBe(401);
    expect((await post(plane, path, { cookie, origin: OWN, "sec-fetch-site": "same-origin" })).status).toBe(
      200,
    );
    expect(await plane.json("GET", `/runs/${id}`)).toMatchObject({ run: { cancelRequested: true } });
  });

  it("never opens the API of programs", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { cookie } = await session(plane);
    for (const path of ["/runs", "/v1/models", "/keys"]) {
      const response = await plane.app.request(path, { headers: { cookie, origin: OWN } });
      expect(response.status).toBe(401);
    }
    expect((await post(plane, "/v1/chat/completions", { cookie, origin: OWN }, { model: "x" })).status).toBe(
      401,
    );
  });
});

describe("the streams of the pages", () => {
  it("tell the overview again when something in it has changed", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { cookie } = await session(plane);
    const next = await open<Overview>(plane, cookie, "/ui/api/overview");
    expect((await next())?.news).toEqual({ runs: [], endpoints: [] });
    const later = next();
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    expect((await later)?.news.endpoints[0]).toMatchObject({ name: "base", state: "creating" });
  });

  it("tell a run with its events, go on where they were cut off, and end with the run", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const { cookie } = await session(plane);
    const path = `/ui/api/runs/${id}/news`;
    const next = await open<RunNews>(plane, cookie, path);
    const first = await next();
    expect(first?.news.run).toMatchObject({ id, state: "running" });
    expect(first?.news.events[0]?.body).toEqual({ type: "state", state: "queued" });
    const later = next();
    await job.report({ type: "run", event: { type: "metrics", step: 1, metrics: { loss: 2 } } });
    expect((await later)?.news).toMatchObject({ run: { step: 1 }, events: [{ body: { type: "metrics" } }] });
    await job.exit("succeeded");
    const resumed = await open<RunNews>(plane, cookie, path, { "last-event-id": first?.id ?? "" });
    const rest = await resumed();
    expect(rest?.news.events[0]?.body.type).toBe("metrics");
    expect(rest?.news).toMatchObject({ done: true, run: { state: "succeeded" } });
    expect(await resumed()).toBeUndefined();
    const looking = await open<RunNews>(plane, cookie, `${path}?after=${rest?.id ?? ""}`);
    expect((await looking())?.news).toMatchObject({ events: [], done: true });
    expect((await plane.app.request("/ui/api/runs/nope/news", { headers: { cookie } })).status).toBe(404);
  });
});

describe("what the pages read and launch", () => {
  it("shows rollouts without their tokens, checkpoints and logs", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const { cookie } = await session(plane);
    const get = async (path: string) => {
      const response = await plane.app.request(`/ui/api/runs/${id}/${path}`, { headers: { cookie } });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await get("rollouts")).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    const rollout = {
      ...{ step: 1, index: 0, group: 0, row: {}, messages: [{ role: "user", content: "Hi" }], text: "Ho" },
      ...{ tokenIds: [1, 2], mask: [0, 1], logprobs: [0, -1], finishReason: "stop" },
      verdict: { total: 1, scores: {}, errors: {} },
    };
    await job.call("POST", "/rollouts", { attempt: 1, step: 1, rollouts: [rollout] });
    const { body } = await get("rollouts?step=1");
    expect(body).toMatchObject({ step: 1, rollouts: [{ text: "Ho", tokens: 1 }] });
    expect(JSON.stringify(body)).not.toMatch(/tokenIds|logprobs/);
    await job.save(2);
    expect((await get("checkpoints")).body).toMatchObject({ items: [{ id: `${id}@2` }] });
    expect((await get("logs")).body).toEqual({ lines: [`line of train-${id}-a1`] });
  });

  it("pauses and resumes a run, and says why not", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane);
    const headers = { cookie: (await session(plane)).cookie, origin: OWN };
    expect(await (await post(plane, `/ui/api/runs/${id}/pause`, headers)).json()).toMatchObject({
      pauseRequested: true,
    });
    const early = await post(plane, `/ui/api/runs/${id}/resume`, headers);
    expect(early.status).toBe(409);
    expect(await early.json()).toMatchObject({ error: { code: "conflict" } });
  });

  it("launches an endpoint for a checkpoint, the same one each time, and stops it", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    await job.save(2);
    const headers = { cookie: (await session(plane)).cookie, origin: OWN };
    const launch = async () =>
      (await (await post(plane, `/ui/api/checkpoints/${id}@2/endpoint`, headers)).json()) as Endpoint;
    const { name } = await launch();
    expect((await launch()).name).toBe(name);
    const endpoint = await plane.json<Endpoint>("GET", `/endpoints/${name}`);
    expect(endpoint).toMatchObject({ checkpoint: `${id}@2`, public: false });
    expect(await (await post(plane, `/ui/api/endpoints/${name}/stop`, headers)).json()).toMatchObject({
      state: "stopping",
    });
    expect((await post(plane, `/ui/api/checkpoints/${id}@9/endpoint`, headers)).status).toBe(404);
  });

  it("chats with an endpoint that needs a key", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const upstream = await fakeUpstream(onTestFinished, (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: [DONE]\n\n");
    });
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    await plane.reconciler.settle();
    const job = fakeJob(plane, "serve-base-r1-1", 1);
    await job.heartbeat();
    await job.report({ type: "ready", address: upstream.address });
    await plane.reconciler.settle();
    const headers = { cookie: (await session(plane)).cookie, origin: OWN };
    const body = { model: "base", stream: true, messages: [{ role: "user", content: "hi" }] };
    const response = await post(plane, "/ui/api/chat", headers, body);
    expect(await response.text()).toBe("data: [DONE]\n\n");
    expect(upstream.requests[0]).toMatchObject({ path: "/v1/chat/completions", body });
    const unknown = await post(plane, "/ui/api/chat", headers, { ...body, model: "bas" });
    expect(await unknown.json()).toMatchObject({ error: { hint: 'Did you mean "base"?' } });
  });
});
