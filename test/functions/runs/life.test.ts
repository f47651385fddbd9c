import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

describe("a run", () => {
  it("goes from queued to succeeded, with events, a checkpoint and a final state", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    const spec = await job.call<JobSpec>("GET", "");
    expect(spec).toMatchObject({ kind: "train", runId: id, attempt: 1, threads: 2 });
    await job.report({ type: "run", event: { type: "phase", phase: "generate" } });
    await job.report({ type: "run", event: { type: "metrics", step: 4, metrics: { reward: 0.5 } } });
    // Of an earlier step, told late: the run does not go back to it.
    const late = { type: "metrics", step: 3, metrics: { reward: 0.1, own: 7 }, late: true };
    await job.report({ type: "run", event: late });
    expect(await job.save(4)).toMatchObject({ id: `${id}@4`, runId: id, step: 4, attempt: 1 });
    await job.report({ type: "run", event: { type: "phase", phase: "save-checkpoint" } });
    expect((await state()).state).toBe("saving");
    await job.exit("succeeded");

    expect(await state()).toMatchObject({
      state: "succeeded",
      step: 4,
      attempt: 1,
      metrics: { reward: 0.5, own: 7 },
      endedAtMs: expect.any(Number) as number,
    });
    const page = await plane.json<RunEventPage>("GET", `/runs/${id}/events?after=0`);
    expect(page.done).toBe(true);
    expect(page.events.map(({ seq }) => seq)).toEqual(page.events.map((_, index) => index + 1));
    const told = page.events.map(({ body }) => (body.type === "state" ? body.state : body.type));
    expect(told).toEqual([
      ...["queued", "attempt", "provisioning", "starting", "running"],
      ...["phase", "metrics", "metrics", "checkpoint", "phase", "saving", "succeeded"],
    ]);
    expect(plane.complaints).toEqual([]);
  });

  it("begins again from its last complete checkpoint when its container falls silent, and forgets why once it does (37, 44)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await job.save(2);
    await job.call("POST", "/checkpoints", {
      attempt: 1,
      step: 3,
      kind: "full",
      files: [file("model/half")],
    });
    await silence(plane, 15_000);
    expect(await state()).toMatchObject({ state: "queued", attempt: 1, failure: { code: "container_lost" } });
    expect(plane.containers.stopped).toContain(job.id);
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ attempt: 2, step: 2, state: "starting" });
    expect((await state()).failure).toBeUndefined();
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    expect(await second.call<JobSpec>("GET", "")).toMatchObject({ resume: { id: `${id}@2`, step: 2 } });

    const late = await job.answer("POST", "/events", { attempt: 1, events: [] });
    expect(late.status).toBe(410);
    expect(await late.json()).toMatchObject({ error: { code: "attempt_stale" } });
  });

  it("gives up after as many attempts as allowed, and keeps the reason and the last lines (39, 43)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, state } = await runningRun(plane);
    for (const attempt of [1, 2, 3]) {
      const logTail = [`attempt ${attempt} says goodbye`];
      plane.containers.set(`train-${id}-a${attempt}`, {
        state: "exited",
        exitCode: 1,
        reason: "error",
        logTail,
      });
      await plane.reconciler.settle();
      plane.clock.advance(5_000);
      await plane.reconciler.settle();
    }
    expect(await state()).toMatchObject({
      state: "failed",
      attempt: 3,
      failure: { code: "container_failed", logTail: ["attempt 3 says goodbye"] },
    });
    expect(plane.containers.launched).toHaveLength(3);
  });

  it("is not tried again when the user's part is wrong (39)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job, state } = await runningRun(plane);
    await job.exit("failed", { code: "reward_failed", message: "haiku threw" });
    plane.clock.advance(120_000);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({
      state: "failed",
      attempt: 1,
      failure: { code: "reward_failed", message: "haiku threw", logTail: [`line of ${job.id}`] },
    });
    expect(plane.containers.launched).toHaveLength(1);
  });

  it("ends as failed when its container cannot be launched at all (1)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.containers.failLaunch(new SpotterError("model_unsupported", "no engine for it"));
    const { run } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    await plane.reconciler.settle();
    expect((await plane.json<RunDetail>("GET", `/runs/${run.id}`)).run).toMatchObject({
      state: "failed",
      failure: { code: "model_unsupported", message: "no engine for it" },
    });
  });

  it("waits with its reason while there is no room, for as long as it takes (4, 45)", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "waiting", reason: "capacity" },
    });
    const { run } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    await plane.reconciler.settle();
    plane.clock.advance(3_600_000);
    await plane.reconciler.settle();
    const waiting = (await plane.json<RunDetail>("GET", `/runs/${run.id}`)).run;
    expect(waiting).toMatchObject({ state: "provisioning", waitingFor: "capacity", attempt: 1 });
    plane.containers.set(`train-${run.id}-a1`, { state: "running" });
    await plane.reconciler.settle();
    const started = (await plane.json<RunDetail>("GET", `/runs/${run.id}`)).run;
    expect(started.state).toBe("starting");
    expect(started.waitingFor).toBeUndefined();
  });

  it("lists and serves what a run has saved that failed later (33)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await job.save(2);
    await job.exit("failed", { code: "numeric_failure", message: "NaN" });
    expect((await state()).state).toBe("failed");
    const { items } = await plane.json<{ items: { id: string }[] }>("GET", `/runs/${id}/checkpoints`);
    expect(items.map((each) => each.id)).toEqual([`${id}@2`]);
    const endpoint = { model: { name: "spotter/nano" }, checkpoint: `${id}@2` };
    expect((await plane.call("POST", "/endpoints", endpoint)).ok).toBe(true);
  });

  it("stops at its time limit and keeps what it saved (41)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job, state } = await runningRun(plane, { limits: { durationMs: 7_000 } });
    plane.clock.advance(8_000);
    await plane.reconciler.settle();
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.save(3);
    await job.exit("cancelled");
    expect(await state()).toMatchObject({ state: "failed", failure: { code: "timeout" } });
  });
});

async function silence(plane: Awaited<ReturnType<typeof testPlane>>, ms: number): Promise<void> {
  // In steps, as time passes; one jump would be a sleep of this machine.
  for (let passed = 0; passed < ms; passed += 1_000) {
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
  }
}

function file(path: string) {
  return { path, size: 1, sha256: "0".repeat(64) };
}
