import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import type { ServeJob } from "../../../sdk/schema/job.ts";
import type { OpenAiErrorBody } from "../../../sdk/schema/chat.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { listening } from "../../fakes/listening.ts";
import { fakeUpstream, type FakeUpstream } from "../../fakes/upstream.ts";

const CHAT = "/v1/chat/completions";
const ask = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "hi" }],
  ...more,
});

async function launch(plane: TestPlane, body: object): Promise<void> {
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, ...body });
  await plane.reconciler.settle();
}

async function bringUp(plane: TestPlane, name: string, address: string): Promise<void> {
  const job = fakeJob(plane, `serve-${name}-r1-1`, 1);
  await job.heartbeat();
  await job.report({ type: "ready", address });
  await plane.reconciler.settle();
}

async function served(
  answer: Parameters<typeof fakeUpstream>[1],
  body: object = {},
): Promise<{ plane: TestPlane; upstream: FakeUpstream }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const upstream = await fakeUpstream(onTestFinished, answer);
  await launch(plane, { name: "base", ...body });
  await bringUp(plane, "base", upstream.address);
  return { plane, upstream };
}

const echo: Parameters<typeof fakeUpstream>[1] = (response, body) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ echo: body }));
};

async function errorOf(response: Response): Promise<OpenAiErrorBody["error"]> {
  return ((await response.json()) as OpenAiErrorBody).error;
}

describe("chat through the gateway", () => {
  it("passes request and answer on as they are", async () => {
    const { plane, upstream } = await served(echo);
    const response = await plane.call("POST", CHAT, ask("base", { top_k: 5 }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ echo: ask("base", { top_k: 5 }) });
    expect(upstream.requests[0]?.path).toBe(CHAT);
    expect(response.headers.get("x-request-id")).toBeTruthy();
    const sent = upstream.requests[0]?.request.headers["authorization"];
    const job = fakeJob(plane, "serve-base-r1-1", 1);
    const { accessKey } = await job.call<ServeJob>("GET", "");
    // Its own key, known to the replica from its job: neither the caller's nor the job's token.
    expect(sent).toBe(`Bearer ${accessKey ?? "none"}`);
    expect(accessKey).toMatch(/^[0-9a-f]{64}$/);
  });

  it("keeps status and body of an upstream error", async () => {
    const { plane } = await served((response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":{"message":"too long","type":"invalid_request_error","param":null,"code":"x"}}');
    });
    const response = await plane.call("POST", CHAT, ask("base"));
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ message: "too long", code: "x" });
  });

  it("streams events as they come, and says so when the replica breaks off (S11)", async () => {
    const { plane, upstream } = await served((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"n":1}\n\n');
    });
    const response = await plane.call("POST", CHAT, ask("base", { stream: true }));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: {"n":1}\n\n');
    upstream.requests[0]?.response.destroy();
    expect((await reader?.read())?.value).toContain('data: {"error":{"message":"The replica stopped');
    expect((await reader?.read())?.done).toBe(true);
  });

  it("ends the replica's work when the client goes away, before and after the first byte (60)", async () => {
    const { plane, upstream } = await served((response, body) => {
      if (body["stream"] !== true) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"n":1}\n\n');
    });
    const base = await listening(plane, onTestFinished);
    for (const stream of [false, true]) {
      const abort = new AbortController();
      const before = upstream.aborted;
      const response = fetch(base + CHAT, {
        method: "POST",
        headers: { authorization: `Bearer ${(await key(plane)).key}` },
        body: JSON.stringify(ask("base", { stream })),
        signal: abort.signal,
      });
      response.catch(() => undefined);
      if (stream) await (await response).body?.getReader().read();
      await vi.waitFor(() => expect(upstream.requests.length).toBe(stream ? 2 : 1));
      abort.abort();
      await vi.waitFor(() => expect(upstream.aborted).toBe(before + 1));
    }
  });

  it("answers 502 with a retry hint when the replica does not answer", async () => {
    const { plane, upstream } = await served((response) => void response.destroy());
    const response = await plane.call("POST", CHAT, ask("base"));
    expect(response.status).toBe(502);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await errorOf(response)).toMatchObject({ type: "server_error", code: "upstream_error" });
    expect(upstream.requests).toHaveLength(1);
  });

  it("calls the store for nothing once it knows endpoint and key", async () => {
    const { plane } = await served(echo);
    const { key: chat } = await key(plane);
    await plane.json("POST", CHAT, ask("base"), chat);
    await fakeJob(plane, "serve-base-r1-1", 1).heartbeat();
    const { store } = plane.control;
    const calls: string[] = [];
    for (const name of ["get", "put", "query", "queryIndex", "append", "read"] as const) {
      store[name] = async () => {
        calls.push(name);
        throw new Error("no store here");
      };
    }
    await plane.json("POST", CHAT, ask("base"), chat);
    expect(calls).toEqual([]);
  });
});

describe("the model name", () => {
  it("may be a checkpoint or a run that an endpoint serves (34)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const upstream = await fakeUpstream(onTestFinished, echo);
    const { id, job } = await runningRun(plane);
    await job.save(2);
    await launch(plane, { name: "trained", checkpoint: `${id}@2` });
    await bringUp(plane, "trained", upstream.address);
    const used = await plane.json("POST", CHAT, ask(`${id}@2`));
    expect(used).toEqual({ echo: ask("trained") });
    expect(await plane.json("POST", CHAT, ask(id))).toEqual({ echo: ask("trained") });
    await job.save(4);
    const newest = await plane.call("POST", CHAT, ask(id));
    expect(newest.status).toBe(404);
    expect(await errorOf(newest)).toMatchObject({
      code: "model_not_found",
      param: "model",
      message: expect.stringContaining(`{ checkpoint: "${id}@4" }`) as string,
    });
  });

  it("gets 404 where nothing serves, with how to launch from a shell and in code", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const response = await plane.call("POST", CHAT, ask("haiku"));
    expect(await errorOf(response)).toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining(
        "launch one with `spotter endpoint launch MODEL --name NAME` or",
      ) as string,
    });
  });

  it("that is unknown gets 404 with near names (8, 68)", async () => {
    const { plane } = await served(echo);
    const response = await plane.call("POST", CHAT, ask("bass"));
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({
      type: "invalid_request_error",
      code: "model_not_found",
      message: expect.stringContaining('Did you mean "base"?') as string,
    });
  });

  it.each(["m".repeat(10_000), "a\u0000b", " ", "r@1\n"])(
    "that cannot be one gets 404 (%#)",
    async (model) => {
      const { plane } = await served(echo);
      const response = await plane.call("POST", CHAT, { ...ask("base"), model });
      expect(response.status).toBe(404);
      const error = await errorOf(response);
      expect(error).toMatchObject({ code: "model_not_found", param: "model" });
      expect(JSON.stringify(error).length).toBeLessThan(600);
    },
  );

  it("lists what this key may use", async () => {
    const { plane } = await served(echo);
    await launch(plane, { name: "other" });
    const list = await plane.json<{ data: { id: string }[] }>("GET", "/v1/models");
    expect(list.data.map(({ id }) => id)).toEqual(["base", "other"]);
    const { key: narrow } = await key(plane, { endpoints: ["other"] });
    const some = await plane.json<{ data: { id: string }[] }>("GET", "/v1/models", undefined, narrow);
    expect(some.data.map(({ id }) => id)).toEqual(["other"]);
    expect(await plane.json("GET", "/v1/models/base")).toMatchObject({ id: "base", object: "model" });
    const hidden = await plane.call("GET", "/v1/models/base", undefined, narrow);
    expect(await errorOf(hidden)).toMatchObject({ code: "model_not_found", param: "model" });
  });
});

describe("access to chat", () => {
  it("needs a key, and the errors are OpenAI's (E1, E2)", async () => {
    const { plane } = await served(echo);
    const none = await plane.call("POST", CHAT, ask("base"), null);
    expect(none.status).toBe(401);
    expect(await errorOf(none)).toMatchObject({ type: "invalid_request_error", code: null, param: null });
    expect((await plane.call("POST", CHAT, ask("base"), "sk-spotter-wrong")).status).toBe(401);
    const headers = { authorization: "Basic abc" };
    expect((await plane.app.request(CHAT, { method: "POST", headers })).status).toBe(401);
  });

  it("is open for a public endpoint only, and a bad key stays bad", async () => {
    const { plane } = await served(echo, { public: true });
    await launch(plane, { name: "closed" });
    expect((await plane.call("POST", CHAT, ask("base"), null)).status).toBe(200);
    expect((await plane.call("POST", CHAT, ask("closed"), null)).status).toBe(401);
    expect((await plane.call("POST", CHAT, ask("base"), "sk-spotter-wrong")).status).toBe(401);
    await plane.json("PATCH", "/endpoints/base", { public: false });
    expect((await plane.call("POST", CHAT, ask("base"), null)).status).toBe(401);
  });

  it("of a chat key ends at its endpoints, and at its revocation", async () => {
    const { plane } = await served(echo);
    const { key: other } = await key(plane, { endpoints: ["elsewhere"] });
    const refused = await plane.call("POST", CHAT, ask("base"), other);
    expect(refused.status).toBe(403);
    expect(await errorOf(refused)).toMatchObject({ code: "insufficient_permissions" });
    const { key: mine, record } = await key(plane, { endpoints: ["base"] });
    expect((await plane.call("POST", CHAT, ask("base"), mine)).status).toBe(200);
    expect((await plane.call("GET", "/runs", undefined, mine)).status).toBe(403);
    await plane.json("DELETE", `/keys/${record.id}`);
    expect((await plane.call("POST", CHAT, ask("base"), mine)).status).toBe(401);
  });

  it("answers a browser's preflight without credentials", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const response = await plane.call("OPTIONS", CHAT, undefined, null);
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const refused = await plane.call("POST", CHAT, ask("base"), null);
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    expect((await plane.call("GET", "/runs")).headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("the body", () => {
  it.each([
    ["not JSON", "{", null],
    ["a list", "[]", null],
    ["without model", '{"messages":[]}', "model"],
  ])("that is %s is 400", async (_name, body, param) => {
    const { plane } = await served(echo);
    const response = await plane.call("POST", CHAT, body);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ type: "invalid_request_error", param });
  });
});

function key(plane: TestPlane, more: object = {}): Promise<CreatedKey> {
  return plane.json<CreatedKey>("POST", "/keys", { name: "test", scope: "chat", ...more });
}
