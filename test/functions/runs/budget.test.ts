import { describe, expect, it, onTestFinished } from "vitest";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import type { Status } from "../../../sdk/schema/status.ts";
import { cloudPricing, type Pricing } from "../../../functions/cost/pricing.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const HOUR = 3_600_000;
/** Two dollars an hour, whatever is asked for. */
const TWO_DOLLARS: Pricing = {
  choosesHardware: true,
  priceOf: (hardware) => ({ instance: "g5.x", hourlyUsd: 2, gpus: 4, spot: hardware?.spot ?? false }),
};

async function cloudPlane(pricing = TWO_DOLLARS): Promise<TestPlane> {
  const plane = await testPlane({ onEnd: onTestFinished });
  plane.control.config.pricing = pricing;
  return plane;
}

/** Lets time pass while containers beat. */
async function beat(plane: TestPlane, jobs: FakeJob | FakeJob[], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 9_000) {
    plane.clock.advance(Math.min(9_000, ms - passed));
    for (const job of [jobs].flat()) await job.heartbeat();
    await plane.reconciler.settle();
  }
}

describe("what a run costs", () => {
  it("grows while its container runs, over a restart, and stands still when it has ended", async () => {
    const first = await cloudPlane();
    const { id, job } = await runningRun(first);
    await beat(first, job, 900_000);
    const plane = await first.restart();
    plane.control.config.pricing = TWO_DOLLARS;
    const get = async () => (await plane.json<RunDetail>("GET", `/runs/${id}`)).run;
    expect((await get()).spend).toEqual({ usd: 0.5, gpuSeconds: 3_600, hourlyUsd: 2 });
    expect((await plane.json<Status>("GET", "/status")).spend).toMatchObject({ usd: 0.5, hourlyUsd: 2 });
    const again = { ...job, ...fakeJobOf(plane, job) };
    await again.exit("succeeded");
    plane.clock.advance(HOUR);
    expect((await get()).spend).toEqual({ usd: 0.5, gpuSeconds: 3_600, hourlyUsd: 0 });
    const { items } = await plane.json<{ items: Run[] }>("GET", "/runs");
    expect(items[0]?.spend).toMatchObject({ usd: 0.5 });
    const detail = await plane.json<RunDetail>("GET", `/runs/${id}`);
    expect(detail.charges).toEqual([
      {
        ...{ attempt: 1, instance: "g5.x", hourlyUsd: 2, gpus: 4, spot: false },
        ...{ startedAtMs: 1_000_000, endedAtMs: 1_900_000 },
      },
    ]);
    expect((await plane.json<Status>("GET", "/status")).spend).toMatchObject({ usd: 0, hourlyUsd: 0 });
  });

  it("is nothing on one machine, and nothing while it is paused", async () => {
    const own = await testPlane({ onEnd: onTestFinished });
    const onOwn = await runningRun(own);
    await beat(own, onOwn.job, 60_000);
    expect((await onOwn.state()).spend).toEqual({ usd: 0, gpuSeconds: 0, hourlyUsd: 0 });
    const plane = await cloudPlane();
    const { id, job, state } = await runningRun(plane);
    await plane.json("POST", `/runs/${id}/pause`);
    await job.exit("cancelled");
    plane.clock.advance(HOUR);
    expect(await state()).toMatchObject({ state: "paused", spend: { usd: 0, hourlyUsd: 0 } });
  });
});

/** The same container, which speaks to the control plane that came after. */
function fakeJobOf(plane: TestPlane, { id, token, attempt }: FakeJob): Pick<FakeJob, "exit"> {
  return {
    async exit(outcome) {
      const events = [{ seq: 1, body: { type: "exit", outcome } }];
      await plane.json("POST", `/jobs/${id}/events`, { attempt, events }, token);
      await plane.reconciler.settle();
    },
  };
}

describe("maxCostUsd", () => {
  it("stops the run with a checkpoint, and ends it as budget_exceeded (77)", async () => {
    const plane = await cloudPlane();
    const { id, job, state } = await runningRun(plane, { limits: { maxCostUsd: 1 } });
    await beat(plane, job, HOUR / 2 - 180_000);
    expect(await job.heartbeat()).toEqual({ cancel: false });
    await beat(plane, job, 90_000);
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.save(3);
    await job.exit("cancelled");
    const ended = await state();
    expect(ended).toMatchObject({ state: "failed", failure: { code: "budget_exceeded" } });
    expect(ended.spend?.usd).toBeGreaterThan(0.93);
    expect(ended.spend?.usd).toBeLessThanOrEqual(1);
    const { items } = await plane.json<{ items: Checkpoint[] }>("GET", `/runs/${id}/checkpoints`);
    expect(items.map((each) => each.id)).toEqual([`${id}@3`]);
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    expect(events.flatMap(({ body }) => (body.type === "log" ? [body.message] : [])).at(-1)).toMatch(
      /^The run has cost \$0\.9\d of at most \$1\.00\. It saves and ends\.$/,
    );
    expect(await plane.containers.list()).toEqual([]);
  });

  it("pays for the teacher that is served for the run as well", async () => {
    const plane = await cloudPlane();
    const { id, job, state } = await runningRun(plane, {
      limits: { maxCostUsd: 1 },
      kind: "distill",
      algorithm: { kind: "distill" },
      rewards: undefined,
      teacher: { model: { name: "spotter/nano" } },
    });
    const teacher = fakeJob(plane, `serve-teacher-${id}-r1-1`, 1);
    await teacher.heartbeat();
    // Two containers at two dollars an hour: a quarter of an hour is all there is.
    await beat(plane, [job, teacher], HOUR / 4 - 270_000);
    expect(await job.heartbeat()).toEqual({ cancel: false });
    await beat(plane, [job, teacher], 200_000);
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.save(3);
    await job.exit("cancelled");
    expect(await state()).toMatchObject({
      state: "failed",
      failure: {
        code: "budget_exceeded",
        message: expect.stringMatching(
          /^The run and its teacher have cost \$0\.\d\d of at most \$1\.00\.$/,
        ) as string,
      },
    });
  });

  it("ends a container by force that does not listen", async () => {
    const plane = await cloudPlane();
    const { job, state } = await runningRun(plane, { limits: { maxCostUsd: 1 } });
    await beat(plane, job, HOUR / 2 - 108_000);
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await beat(plane, job, 45_000);
    plane.clock.advance(9_000);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "failed", failure: { code: "budget_exceeded" } });
    expect(plane.containers.stopped).toContain(job.id);
  });

  it("is handed to the home as the longest life of each container, by what is left", async () => {
    const plane = await cloudPlane();
    plane.control.config.maxLifetimeMs = 24 * HOUR;
    const { job } = await runningRun(plane, { limits: { maxCostUsd: 2 } });
    expect(plane.containers.launched[0]).toMatchObject({ maxLifetimeMs: 66 * 60_000 });
    await beat(plane, job, HOUR / 2);
    plane.containers.set(job.id, { state: "exited", exitCode: 1, reason: "error", logTail: [] });
    await plane.reconciler.settle();
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
    expect(plane.containers.launched[1]).toMatchObject({ maxLifetimeMs: 33 * 60_000 });
  });

  it("never comes where nothing costs anything", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane, { limits: { maxCostUsd: 0.01 } });
    await beat(plane, job, 600_000);
    expect(await job.heartbeat()).toEqual({ cancel: false });
  });
});

describe("spot", () => {
  it("goes on from the last checkpoint, however often it is taken back while it gets further", async () => {
    const plane = await cloudPlane();
    const { id, state } = await runningRun(plane, { hardware: { gpu: "A10G", spot: true } });
    for (let attempt = 1; attempt <= 25; attempt++) {
      const job = fakeJob(plane, `train-${id}-a${attempt}`, attempt);
      await job.heartbeat();
      await plane.reconciler.settle();
      await job.save(attempt);
      // Two minutes' notice: it saved, said so, and is taken.
      await job.exit("cancelled");
      plane.containers.set(job.id, { state: "exited", exitCode: 143, reason: "preempted", logTail: [] });
      await plane.reconciler.settle();
      expect(await state()).toMatchObject({ state: "queued", failure: { code: "preempted" } });
      plane.clock.advance(1_000);
      await plane.reconciler.settle();
      expect(await state()).toMatchObject({ state: "starting", attempt: attempt + 1, step: attempt });
    }
    const last = fakeJob(plane, `train-${id}-a26`, 26);
    await last.heartbeat();
    await last.exit("succeeded");
    expect(await state()).toMatchObject({ state: "succeeded" });
    expect(await state()).not.toHaveProperty("failure");
  });

  it("gives up where it gets no further", async () => {
    const plane = await cloudPlane();
    const { id, state } = await runningRun(plane, { hardware: { spot: true } });
    let attempt = 1;
    for (; (await state()).state !== "failed" && attempt < 100; attempt++) {
      const jobId = `train-${id}-a${attempt}`;
      plane.containers.set(jobId, { state: "exited", exitCode: 143, reason: "preempted", logTail: [] });
      await plane.reconciler.settle();
      plane.clock.advance(60_000);
      await plane.reconciler.settle();
    }
    expect(await state()).toMatchObject({ failure: { code: "preempted" }, attempt: 20 });
  });
});

describe("hardware", () => {
  it("reaches the container, with a longest life", async () => {
    const plane = await cloudPlane(cloudPricing());
    const hardware = { gpu: "L4", count: 1, spot: true } as const;
    const { state } = await runningRun(plane, { hardware });
    expect(plane.containers.launched[0]).toMatchObject({ hardware, maxLifetimeMs: 7 * 24 * HOUR });
    expect((await state()).spend?.hourlyUsd).toBeCloseTo(0.35 + (200 * 0.08) / 730, 4);
  });

  it("is reported once where it is ignored, never silently", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane, { hardware: { gpu: "H100", count: 8 } });
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const told = events.filter(({ body }) => body.type === "log" && body.message.includes("ignored"));
    expect(told.map(({ body }) => body)).toEqual([
      {
        type: "log",
        level: "warn",
        message: "Hardware (8 × H100) is ignored: this machine runs on what it has.",
      },
    ]);
  });

  it("that nothing has is refused at launch", async () => {
    const list = structuredClone((await import("../../../functions/cost/prices.ts")).SHIPPED_PRICES);
    delete list.instances["g5.48xlarge"];
    const plane = await cloudPlane(cloudPricing({ list }));
    const spec = { ...(await preparedSpec(plane)), hardware: { gpu: "A10G", count: 8 } };
    const response = await plane.call("POST", "/runs", spec);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_input", where: "hardware.count", hint: "The largest has 4." },
    });
  });
});
