import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { Mortal } from "./mortal.ts";

/** Writes of the scripts below; the first test of each makes sure that this is all of them. */
const RUN_WRITES = 32;
const EVAL_WRITES = 14;
const ENDPOINT_WRITES = 16;

async function trainThrough(dieAt: number): Promise<{ mortal: Mortal; id: string }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { run } = await plane.json<RunDetail>("POST", "/runs", {
    ...(await preparedSpec(plane)),
    name: "crash me",
  });
  // Armed only now, but the reconciler has not had its turn yet: all of its writes count.
  const mortal = new Mortal(plane, dieAt);
  const jobId = `train-${run.id}-a1`;
  const job = (current: TestPlane) => fakeJob(current, jobId, 1);
  const report = (current: TestPlane, seq: number, body: unknown) =>
    job(current).call("POST", "/events", { attempt: 1, events: [{ seq, body }] });
  await mortal.attempt(async (current) => current.reconciler.settle());
  await mortal.attempt((current) => job(current).heartbeat());
  await mortal.attempt((current) =>
    report(current, 1, { type: "run", event: { type: "phase", phase: "train" } }),
  );
  await mortal.attempt((current) =>
    report(current, 2, { type: "run", event: { type: "metrics", step: 4, metrics: { loss: 1 } } }),
  );
  await mortal.attempt((current) =>
    job(current).call("POST", "/rollouts", { attempt: 1, step: 4, rollouts: [] }),
  );
  await mortal.attempt((current) => job(current).save(4));
  await mortal.attempt(async (current) => {
    const response = await job(current).answer("POST", "/events", {
      attempt: 1,
      events: [{ seq: 3, body: { type: "exit", outcome: "succeeded" } }],
    });
    // 410: it was heard, and its end was carried out before the answer could be given.
    if (!response.ok && response.status !== 410) throw new Error(`exit answered ${response.status}`);
  });
  return { mortal, id: run.id };
}

describe("a run whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal } = await trainThrough(Infinity);
    expect(mortal.writes).toBeGreaterThan(20);
    expect(mortal.writes).toBeLessThanOrEqual(RUN_WRITES);
  });

  it.each(Array.from({ length: RUN_WRITES }, (_, index) => index + 1))(
    "at write %i ends the same, in one attempt, with every event told once and one charge",
    async (dieAt) => {
      const { mortal, id } = await trainThrough(dieAt);
      let page: RunEventPage | undefined;
      await mortal.attempt(async (current) => (page = await current.json("GET", `/runs/${id}/events`)));
      const { run, charges } = await mortal.plane.json<RunDetail>("GET", `/runs/${id}`);
      expect(run).toMatchObject({ state: "succeeded", attempt: 1, step: 4, metrics: { loss: 1 } });
      const told = page?.events.map(({ body }) => (body.type === "state" ? body.state : body.type));
      expect(told).toEqual([
        ...["queued", "attempt", "provisioning", "starting", "running"],
        ...["phase", "metrics", "rollouts", "checkpoint", "succeeded"],
      ]);
      expect(mortal.plane.containers.launched).toHaveLength(1);
      const ran = { startedAtMs: 1_000_000, endedAtMs: 1_000_000 };
      expect(charges).toEqual([
        { attempt: 1, instance: "this machine", hourlyUsd: 0, gpus: 0, spot: false, ...ran },
      ]);
    },
  );
});

async function evaluateThrough(dieAt: number): Promise<{ mortal: Mortal; id: string }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { dataset, rewards } = await preparedSpec(plane);
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  await plane.reconciler.settle();
  const { id } = await plane.json<EvalRecord>("POST", "/evals", { endpoint: "base", dataset, rewards });
  const mortal = new Mortal(plane, dieAt);
  const verdict = { total: 1, scores: { score: { score: 1, weight: 1, precondition: false } }, errors: {} };
  const row = { row: 0, sample: 0, input: {}, text: "t", finishReason: "stop", tokens: 1, verdict };
  const job = (current: TestPlane) => fakeJob(current, `eval-${id}-a1`, 1);
  await mortal.attempt(async (current) => current.reconciler.settle());
  await mortal.attempt((current) => job(current).heartbeat());
  for (const [seq, body] of [
    { type: "eval-rows", total: 1, rows: [row] },
    { type: "exit", outcome: "succeeded" },
  ].entries()) {
    await mortal.attempt(async (current) => {
      const events = [{ seq: seq + 1, body }];
      const response = await job(current).answer("POST", "/events", { attempt: 1, events });
      if (!response.ok && response.status !== 410) throw new Error(`events answered ${response.status}`);
    });
  }
  return { mortal, id };
}

describe("an eval whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal } = await evaluateThrough(Infinity);
    expect(mortal.writes).toBeGreaterThan(8);
    expect(mortal.writes).toBeLessThanOrEqual(EVAL_WRITES);
  });

  it.each(Array.from({ length: EVAL_WRITES }, (_, index) => index + 1))(
    "at write %i counts each row once",
    async (dieAt) => {
      const { mortal, id } = await evaluateThrough(dieAt);
      const record = await mortal.plane.json<EvalRecord>("GET", `/evals/${id}`);
      expect(record).toMatchObject({ state: "succeeded", attempt: 1, done: 1, score: { mean: 1, n: 1 } });
      expect(mortal.plane.containers.launched.filter(({ kind }) => kind === "eval")).toHaveLength(1);
    },
  );
});

async function serveThrough(dieAt: number): Promise<{ mortal: Mortal; name: string }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { name } = await plane.json<Endpoint>("POST", "/endpoints", { model: { name: "spotter/nano" } });
  const mortal = new Mortal(plane, dieAt);
  const job = (current: TestPlane) => fakeJob(current, `serve-${name}-r1-1`, 1);
  const events = [{ seq: 1, body: { type: "ready", address: "127.0.0.1:1" } }];
  await mortal.attempt(async (current) => current.reconciler.settle());
  await mortal.attempt((current) => job(current).heartbeat());
  await mortal.attempt((current) => job(current).call("POST", "/events", { attempt: 1, events }));
  return { mortal, name };
}

describe("an endpoint whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal, name } = await serveThrough(Infinity);
    await mortal.attempt((current) => current.json("DELETE", `/endpoints/${name}`));
    expect(mortal.writes).toBeGreaterThan(8);
    expect(mortal.writes).toBeLessThanOrEqual(ENDPOINT_WRITES);
  });

  it.each(Array.from({ length: ENDPOINT_WRITES }, (_, index) => index + 1))(
    "at write %i comes up with one replica, and stops for good",
    async (dieAt) => {
      const { mortal, name } = await serveThrough(dieAt);
      const get = () => mortal.plane.json<Endpoint>("GET", `/endpoints/${name}`);
      expect(await get()).toMatchObject({ state: "ready", replicas: [{ jobId: `serve-${name}-r1-1` }] });
      expect(mortal.plane.containers.launched).toHaveLength(1);
      await mortal.attempt((current) => current.json("DELETE", `/endpoints/${name}`));
      expect(await get()).toMatchObject({ state: "stopped", replicas: [] });
      expect(await mortal.plane.containers.list()).toEqual([]);
    },
  );
});
