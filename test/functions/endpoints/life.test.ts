import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../../fakes/job.ts";

const NANO = { model: { name: "spotter/nano" } };

async function launch(plane: TestPlane, body: object = NANO): Promise<Endpoint> {
  const endpoint = await plane.json<Endpoint>("POST", "/endpoints", body);
  await plane.reconciler.settle();
  return endpoint;
}

async function get(plane: TestPlane, name: string): Promise<Endpoint> {
  return plane.json<Endpoint>("GET", `/endpoints/${name}`);
}

async function ready(plane: TestPlane, name: string): Promise<FakeJob> {
  const { replicas } = await get(plane, name);
  const jobId = replicas.at(-1)?.jobId ?? "";
  const job = fakeJob(plane, jobId, Number(jobId.split("-").at(-1)));
  await job.heartbeat();
  await job.report({ type: "ready", address: `${jobId}:1` });
  await plane.reconciler.settle();
  return job;
}

describe("an endpoint", () => {
  it("is named after its identity, and ready only after the probe (3)", async () => {
    let answers = false;
    const plane = await testPlane({ onEnd: onTestFinished, probe: async () => answers });
    const { name, state, url } = await launch(plane);
    expect(name).toMatch(/^nano-[0-9a-f]{12}$/);
    expect({ state, url }).toEqual({ state: "creating", url: "http://127.0.0.1:7717/v1" });
    const job = await ready(plane, name);
    expect(job.id).toBe(`serve-${name}-r1-1`);
    expect(await job.call<JobSpec>("GET", "")).toMatchObject({ kind: "serve", endpoint: name });
    expect(await get(plane, name)).toMatchObject({ state: "creating", replicas: [{ state: "loading" }] });
    answers = true;
    plane.clock.advance(100);
    await plane.reconciler.settle();
    expect(await get(plane, name)).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
  });

  it("is found again by the same launch, and `public` changes in place (2)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(plane);
    const again = await launch(plane, { ...NANO, public: true });
    expect(again).toMatchObject({ name, revision: 1, public: true });
    const updated = await plane.json<Endpoint>("PATCH", `/endpoints/${name}`, { public: false });
    expect(updated.public).toBe(false);
    expect(plane.containers.launched).toHaveLength(1);
  });

  it("refuses its name to another identity and names the difference (2)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await launch(plane, { ...NANO, name: "base" });
    const response = await plane.call("POST", "/endpoints", {
      model: { name: "/models/other" },
      name: "base",
    });
    expect(response.status).toBe(409);
    const { error } = (await response.json()) as { error: Record<string, string> };
    expect(error["code"]).toBe("conflict");
    expect(error["message"]).toContain("model is spotter/nano, asked was /models/other");
    expect(error["hint"]).toContain("recreate: true");
  });

  it("gives the name of a stopped one to the next that asks", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await launch(plane, { ...NANO, name: "base" });
    const first = await ready(plane, "base");
    await plane.json("DELETE", "/endpoints/base");
    await plane.reconciler.settle();
    plane.containers.set(first.id, { state: "exited", exitCode: 0, reason: "done", logTail: [] });
    await plane.reconciler.settle();
    expect((await get(plane, "base")).state).toBe("stopped");
    const next = await launch(plane, { model: { name: "/models/other" }, name: "base" });
    expect(next).toMatchObject({ revision: 2, model: { name: "/models/other" } });
    await ready(plane, "base");
  });

  it("serves the old identity until the recreated one is ready (20)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await launch(plane, { ...NANO, name: "base" });
    const first = await ready(plane, "base");
    await launch(plane, { model: { name: "/models/other" }, name: "base", recreate: true });
    const during = await get(plane, "base");
    expect(during).toMatchObject({ state: "updating", revision: 2, model: { name: "/models/other" } });
    expect(during.replicas.map(({ state }) => state)).toEqual(["ready", "starting"]);
    const second = await ready(plane, "base");
    expect(second.id).toBe("serve-base-r2-2");
    expect(await get(plane, "base")).toMatchObject({ state: "ready", replicas: [{ jobId: second.id }] });
    expect(plane.containers.stopped).toEqual([first.id]);
  });

  it("gets a new replica when one dies, after a pause", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(plane);
    const first = await ready(plane, name);
    plane.containers.set(first.id, { state: "exited", exitCode: 1, reason: "error", logTail: ["bye"] });
    await plane.reconciler.settle();
    expect(await get(plane, name)).toMatchObject({ state: "updating", replicas: [], startFailures: 1 });
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
    await ready(plane, name);
    const healed = await get(plane, name);
    expect(healed).toMatchObject({
      state: "ready",
      startFailures: 0,
      replicas: [{ jobId: `serve-${name}-r1-2` }],
    });
    expect(healed.failure).toBeUndefined();
  });

  it("comes back at once after a restart of the daemon took its replica along", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(first);
    const job = await ready(first, name);
    await first.reconciler.close();
    await job.report({ type: "exit", outcome: "cancelled" });
    first.containers.set(job.id, { state: "exited", exitCode: 0, reason: "done", logTail: [] });
    const second = await first.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    expect(await get(second, name)).toMatchObject({
      ...{ state: "updating", startFailures: 0, replicas: [{ jobId: `serve-${name}-r1-2` }] },
    });
    await ready(second, name);
    expect(await get(second, name)).toMatchObject({ state: "ready" });
  });

  it("fails after three bad starts, with the last lines, and costs nothing from then on (11)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(plane);
    for (const number of [1, 2, 3]) {
      const logTail = [`start ${number}`];
      plane.containers.set(`serve-${name}-r1-${number}`, {
        state: "exited",
        exitCode: 1,
        reason: "error",
        logTail,
      });
      await plane.reconciler.settle();
      plane.clock.advance(10_000);
      await plane.reconciler.settle();
    }
    const failed = await get(plane, name);
    expect(failed).toMatchObject({
      state: "failed",
      desired: 0,
      replicas: [],
      failure: { code: "container_failed", logTail: ["start 3"] },
    });
    plane.clock.advance(3_600_000);
    await plane.reconciler.settle();
    expect(plane.containers.launched).toHaveLength(3);
    const relaunched = await launch(plane);
    expect(relaunched).toMatchObject({ name, state: "creating", startFailures: 0 });
    expect(relaunched.failure).toBeUndefined();
    expect(plane.containers.launched.at(-1)?.jobId).toBe(`serve-${name}-r1-4`);
  });

  it("stops, keeps its record, and starts again by the same launch", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { name } = await launch(plane);
    const job = await ready(plane, name);
    expect(await plane.json("DELETE", `/endpoints/${name}`)).toMatchObject({ state: "stopping", desired: 0 });
    await plane.reconciler.settle();
    expect(plane.containers.stopped).toEqual([job.id]);
    expect(await get(plane, name)).toMatchObject({ state: "stopped", replicas: [] });
    expect((await job.answer("POST", "/heartbeat", { attempt: 1 })).status).toBe(410);
    expect(await plane.json("DELETE", `/endpoints/${name}`)).toMatchObject({ state: "stopped" });
    await launch(plane);
    await ready(plane, name);
    expect(await get(plane, name)).toMatchObject({ state: "ready" });
  });

  it("serves a checkpoint with its model files only", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job: train } = await runningRun(plane);
    const { id } = await train.save(2);
    const missing = await plane.call("POST", "/endpoints", { ...NANO, checkpoint: id.replace("@2", "@3") });
    expect(await missing.json()).toMatchObject({
      error: { code: "checkpoint_not_found", hint: `This run has ${id}.` },
    });
    const { name } = await launch(plane, { ...NANO, checkpoint: id });
    const job = await ready(plane, name);
    const spec = await job.call<Extract<JobSpec, { kind: "serve" }>>("GET", "");
    expect(spec.checkpoint?.files.map(({ path }) => path)).toEqual(["model/w.safetensors"]);
    const url = new URL(spec.checkpoint?.files[0]?.url ?? "");
    const file = await plane.call("GET", url.pathname, undefined, job.token);
    expect(await file.text()).toBe("weights of step 2 by attempt 1");
    const wrong = await plane.call("POST", "/endpoints", { model: { name: "/x" }, checkpoint: id });
    expect(await wrong.json()).toMatchObject({ error: { code: "checkpoint_mismatch" } });
  });
});
