import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { startGateway, type Gateway, type GatewayOptions } from "../../../functions/gateway/serve.ts";
import { changeRun } from "../../../functions/runs/records.ts";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { sharedWorld, type SharedPlane, type SharedWorld } from "../../fakes/shared-planes.ts";
import { fakeUpstream, type FakeUpstream } from "../../fakes/upstream.ts";

const TIMES = { acceptMs: 0, finishMs: 5_000 };

interface Stack {
  world: SharedWorld;
  /** Control plane functions. */
  lambda: SharedPlane;
  gateway: Gateway;
  upstream: FakeUpstream;
  key: string;
  ask: (path: string, init?: RequestInit) => Promise<Response>;
  chat: (stream: boolean) => Promise<Response>;
  bringUp: () => Promise<void>;
}

/** A gateway on a real port, an endpoint that functions look after, and a replica. */
async function stack(options: Partial<GatewayOptions> = {}): Promise<Stack> {
  const world = sharedWorld(onTestFinished);
  const lambda = world.open({ readsAtUse: true });
  const upstream = await fakeUpstream(onTestFinished, (response, { stream }) => {
    if (stream !== true) return void response.end('{"ok":true}');
    response.setHeader("content-type", "text/event-stream");
    response.write('data: {"choices":[]}\n\n');
  });
  const { shared } = lambda.deps;
  if (shared === undefined) throw new Error("not shared");
  const deps = { ...world.open().deps, shared };
  const gateway = await startGateway(deps, { port: 0, host: "127.0.0.1", drainTimes: TIMES, ...options });
  const ends: Promise<void>[] = [];
  onTestFinished(async () => {
    ends.push(gateway.close());
    await until(world, () => false, 100);
    await Promise.all(ends);
  });
  await lambda.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  lambda.reconciler.wake();
  await lambda.reconciler.settle();
  const { key } = await lambda.json<{ key: string }>("POST", "/keys", { name: "web", scope: "write" });
  const base = `http://127.0.0.1:${gateway.port}`;
  return {
    world,
    lambda,
    gateway,
    upstream,
    key,
    ask: (path, init) => fetch(base + path, init),
    chat: (stream) =>
      fetch(`${base}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "base", messages: [{ role: "user", content: "hi" }], stream }),
      }),
    bringUp: async () => {
      const { replicas } = await lambda.json<Endpoint>("GET", "/endpoints/base");
      for (const { jobId } of replicas) {
        world.containers.set(jobId, { state: "running" });
        const job = fakeJob(lambda, jobId, 1);
        await job.heartbeat();
        await job.report({ type: "ready", address: upstream.address });
      }
      lambda.reconciler.wake();
      await lambda.reconciler.settle();
      await world.pass(1_500);
    },
  };
}

/** Both kinds of time pass: the fake one, and the real one that sockets need. */
async function until(world: SharedWorld, isSo: () => boolean, steps = 600): Promise<void> {
  for (let step = 0; step < steps && !isSo(); step++) {
    await world.pass(100);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe("a gateway of its own", () => {
  it("answers chat with what functions brought up, and nothing of theirs", async () => {
    const { bringUp, chat, ask, key } = await stack();
    await bringUp();
    const response = await chat(false);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ok: true });
    const headers = { authorization: `Bearer ${key}` };
    expect(await (await ask("/v1/models", { headers })).json()).toMatchObject({ data: [{ id: "base" }] });
    for (const path of ["/endpoints", "/ui", "/keys", "/jobs/x", "/status"])
      expect((await ask(path, { headers })).status).toBe(404);
    expect((await ask("/metrics")).status).toBe(401);
  });

  it("holds who comes before there is a replica, and wakes the reconciler", async () => {
    const { world, lambda, bringUp, chat, gateway } = await stack();
    lambda.wakes.splice(0);
    const held = chat(false);
    await vi.waitFor(() => expect(gateway.control.load.snapshot("base").queued).toBe(1));
    expect(lambda.wakes).toContain("reconciler");
    await bringUp();
    let response: Response | undefined;
    void held.then((answer) => (response = answer));
    await until(world, () => response !== undefined);
    expect(response?.status).toBe(200);
  });

  it("tells load balancers under any name that it is well, and nobody else who comes past the front door", async () => {
    const { ask, key, gateway } = await stack({ originSecret: "of the front door" });
    const headers = { authorization: `Bearer ${key}` };
    const health = await ask("/health");
    expect(await health.json()).toMatchObject({ ok: true, name: "spotter" });
    // A load balancer keeps connections for 4000 s, and may not find one closed.
    expect(health.headers.get("keep-alive")).toBe("timeout=4060");
    expect((await ask("/v1/models", { headers })).status).toBe(403);
    const wrong = { ...headers, "x-spotter-origin": "guessed" };
    expect((await ask("/v1/models", { headers: wrong })).status).toBe(403);
    const right = { ...headers, "x-spotter-origin": "of the front door" };
    expect((await ask("/v1/models", { headers: right })).status).toBe(200);
    expect(gateway.control.fleet.size).toBe(1);
  });

  it("passes the events of a run on that another process tells", async () => {
    const { world, lambda, ask, key, gateway } = await stack();
    const { run } = await lambda.json<RunDetail>("POST", "/runs", await preparedSpec(lambda));
    const response = await ask(`/runs/${run.id}/events/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })().catch((error: unknown) => String(error));
    await changeRun(lambda.control, run.id, (document) => ({
      document,
      events: [{ type: "log", level: "info", message: "from elsewhere" }],
    }));
    await until(world, () => text.includes("from elsewhere"), 20);
    expect(text).toContain("from elsewhere");
    // It would never end by itself; the client goes on elsewhere.
    let isClosed = false;
    void gateway.close().then(() => (isClosed = true));
    await until(world, () => isClosed, 20);
    expect(isClosed).toBe(true);
    expect(await reading).toContain("terminated");
  });
});

describe("a gateway that is told to end", () => {
  it("lets streams finish, takes no more, and gives up the lease and its share", async () => {
    const { world, gateway, bringUp, chat, ask, upstream, lambda } = await stack();
    const other = world.open();
    await other.control.fleet.join();
    await other.autoscaler.start();
    await bringUp();
    const reader = (await chat(true)).body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    const holder = async () =>
      (await world.store.get<{ holder: string }>({ partition: "leases", sort: "autoscaler" }))?.value.holder;
    const before = await holder();
    let isClosed = false;
    const closing = gateway.close().then(() => (isClosed = true));
    await until(world, () => false, 20);
    await expect(ask("/health")).rejects.toThrow();
    expect(isClosed).toBe(false);
    // The next one decides while the last answers go out.
    expect([before, "", undefined]).not.toContain(await holder());
    upstream.requests[0]?.response.end("data: [DONE]\n\n");
    let text = "";
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      text += next.value;
    expect(text).toContain("[DONE]");
    await until(world, () => isClosed);
    await closing;
    expect((await lambda.control.store.query("gateways")).items).toHaveLength(1);
    await world.pass(2_000);
    expect(other.control.fleet.size).toBe(1);
  });

  it("answers who waits in vain so that they ask again", async () => {
    const { world, gateway, chat } = await stack();
    const held = chat(false);
    await vi.waitFor(() => expect(gateway.control.load.snapshot("base").queued).toBe(1));
    let isClosed = false;
    const closing = gateway.close().then(() => (isClosed = true));
    let response: Response | undefined;
    void held.then((answer) => (response = answer));
    await until(world, () => response !== undefined && isClosed);
    await closing;
    expect(response?.status).toBe(503);
    expect(Number(response?.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  });

  it("cuts off who takes longer than it has", async () => {
    const { world, gateway, chat, bringUp } = await stack();
    await bringUp();
    const reader = (await chat(true)).body?.getReader();
    await reader?.read();
    let isClosed = false;
    void gateway.close().then(() => (isClosed = true));
    const broken = Promise.resolve(reader?.read()).catch((error: unknown) => String(error));
    await until(world, () => isClosed);
    expect(isClosed).toBe(true);
    expect(await broken).toContain("terminated");
  });

  it("says that it is not well first, while it still takes requests", async () => {
    const { world, gateway, bringUp, ask, chat } = await stack({
      drainTimes: { acceptMs: 3_000, finishMs: 3_000 },
    });
    await bringUp();
    let isClosed = false;
    const closing = gateway.close().then(() => (isClosed = true));
    const health = await ask("/health");
    expect(health.status).toBe(503);
    expect(health.headers.get("connection")).toBe("close");
    expect(await (await chat(false)).json()).toEqual({ ok: true });
    await until(world, () => isClosed);
    await closing;
    await expect(ask("/health")).rejects.toThrow();
  });
});
