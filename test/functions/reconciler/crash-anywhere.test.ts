import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { keep, slimePlane, slimeSpec } from "../conversions/converting.ts";

/** Writes of the scripts below; the first test of each makes sure that this is all of them. */
const RUN_WRITES = 32;
const EVAL_WRITES = 14;
const ENDPOINT_WRITES = 16;
const CONVERSION_WRITES = 37;
const MAX_TRIES = 6;

/** A control plane that dies at its n-th write and is started again by whoever needs it. */
class Mortal {
  plane: TestPlane;
  writes = 0;
  readonly #dieAt: number;
  #dead = false;

  constructor(plane: TestPlane, dieAt: number) {
    this.plane = plane;
    this.#dieAt = dieAt;
    this.#arm();
  }

  /** Does something as a client does: again when the other side died over it. */
  async attempt(action: (plane: TestPlane) => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await action(this.plane);
        await this.plane.reconciler.settle();
        if (!this.#dead) return;
      } catch (error) {
        if (!this.#dead || tries >= MAX_TRIES) throw error;
      }
      await this.#revive();
    }
  }

  async #revive(): Promise<void> {
    if (!this.#dead) return;
    this.plane = await this.plane.restart();
    this.#dead = false;
    this.#arm();
    this.plane.reconciler.wake();
    await this.plane.reconciler.settle();
  }

  #arm(): void {
    const { store } = this.plane.control;
    for (const name of ["get", "query", "queryIndex", "read", "put", "append"] as const) {
      const real = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>;
      const isWrite = name === "put" || name === "append";
      const mortal = async (...args: unknown[]): Promise<unknown> => {
        if (isWrite && !this.#dead && ++this.writes === this.#dieAt) this.#dead = true;
        if (this.#dead) throw new Error("the process is dead");
        return real(...args);
      };
      Object.assign(store, { [name]: mortal } satisfies Partial<Record<keyof Store, unknown>>);
    }
  }
}

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

async function convertThrough(dieAt: number): Promise<{ mortal: Mortal; id: string }> {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const { run } = await plane.json<RunDetail>("POST", "/runs", await slimeSpec(plane));
  const mortal = new Mortal(plane, dieAt);
  const job = (current: TestPlane) => fakeJob(current, `convert-${run.id}-c-model-a1`, 1);
  await mortal.attempt(async (current) => current.reconciler.settle());
  await mortal.attempt((current) => job(current).heartbeat());
  await mortal.attempt((current) => keep(job(current)));
  for (const [seq, body] of [
    { type: "log", level: "info", message: "converted" },
    { type: "exit", outcome: "succeeded" },
  ].entries()) {
    await mortal.attempt(async (current) => {
      const events = [{ seq: seq + 1, body }];
      const response = await job(current).answer("POST", "/events", { attempt: 1, events });
      if (!response.ok && response.status !== 410) throw new Error(`events answered ${response.status}`);
    });
  }
  await mortal.attempt((current) => fakeJob(current, `train-${run.id}-a1`, 1).heartbeat());
  return { mortal, id: run.id };
}

describe("a conversion whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal } = await convertThrough(Infinity);
    expect(mortal.writes).toBeGreaterThan(20);
    expect(mortal.writes).toBeLessThanOrEqual(CONVERSION_WRITES);
  });

  it.each(Array.from({ length: CONVERSION_WRITES }, (_, index) => index + 1))(
    "at write %i is made once, told once and paid once, and its run begins after it",
    async (dieAt) => {
      const { mortal, id } = await convertThrough(dieAt);
      let page: RunEventPage | undefined;
      await mortal.attempt(async (current) => (page = await current.json("GET", `/runs/${id}/events`)));
      const told = page?.events.map(({ body }) => (body.type === "state" ? body.state : body.type));
      // What comes last is told with the run's next change, if not now.
      expect(told?.slice(2, 8)).toEqual([
        ...["queued", "phase", "log", "attempt", "provisioning", "starting"],
      ]);
      expect(mortal.plane.containers.launched.map(({ kind }) => kind)).toEqual(["convert", "train"]);
      const { charges } = await mortal.plane.json<RunDetail>("GET", `/runs/${id}`);
      expect(charges).toMatchObject([{ conversion: `${id}-c-model`, endedAtMs: 1_000_000 }, { attempt: 1 }]);
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
