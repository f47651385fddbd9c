import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

async function errorOf(plane: TestPlane, path: string): Promise<string> {
  const response = await plane.call("POST", path);
  return ((await response.json()) as { error: { code: string } }).error.code;
}

describe("pausing a run", () => {
  it("saves, lets go of the container, and goes on from the checkpoint when resumed (25)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    const asked = await plane.json<Run>("POST", `/runs/${id}/pause`);
    expect(asked).toMatchObject({ state: "running", pauseRequested: true });
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.save(3);
    await job.exit("cancelled");
    const paused = await state();
    expect(paused).toMatchObject({ state: "paused", attempt: 1 });
    expect(paused.pauseRequested).toBeUndefined();
    expect(paused.failure).toBeUndefined();
    expect(await plane.containers.list()).toEqual([]);
    // Nothing has to be kept up for it.
    expect(await plane.json("GET", "/status")).toMatchObject({ activeRuns: 0 });
    plane.clock.advance(3_600_000);
    await plane.reconciler.settle();
    expect((await state()).state).toBe("paused");

    await plane.json("POST", `/runs/${id}/resume`);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "starting", attempt: 2, step: 3 });
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    expect(await second.call<JobSpec>("GET", "")).toMatchObject({ resume: { id: `${id}@3`, step: 3 } });
    expect(await second.heartbeat()).toEqual({ cancel: false });
    await second.exit("succeeded");
    expect(await state()).toMatchObject({ state: "succeeded" });
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const states = events.flatMap(({ body }) => (body.type === "state" ? [body.state] : []));
    expect(states).toEqual([
      ...["queued", "provisioning", "starting", "running", "paused"],
      ...["queued", "provisioning", "starting", "running", "succeeded"],
    ]);
    expect(plane.complaints).toEqual([]);
  });

  it("is done at once for a run that waits, and outlives a restart", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "waiting", reason: "capacity" },
    });
    const { run } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    await plane.reconciler.settle();
    await plane.json("POST", `/runs/${run.id}/pause`);
    await plane.reconciler.settle();
    expect(await plane.containers.list()).toEqual([]);
    const second = await plane.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    const get = async () => (await second.json<RunDetail>("GET", `/runs/${run.id}`)).run;
    expect(await get()).toMatchObject({ state: "paused", attempt: 1 });
    await second.json("POST", `/runs/${run.id}/resume`);
    await second.reconciler.settle();
    expect(await get()).toMatchObject({ state: "provisioning", attempt: 2 });
  });

  it("takes the container away from a run that does not let go in time", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await plane.json("POST", `/runs/${id}/pause`);
    for (let second = 0; second < 62; second++) {
      plane.clock.advance(1_000);
      await plane.reconciler.settle();
      if ((await state()).state === "running") await job.heartbeat();
    }
    expect(await state()).toMatchObject({ state: "paused" });
    expect(plane.containers.stopped).toContain(job.id);
    expect((await job.answer("POST", "/heartbeat", { attempt: 1 })).status).toBe(410);
  });

  it("pauses a run whose container dies over it, and fails one whose code is wrong", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const lost = await runningRun(plane);
    await plane.json("POST", `/runs/${lost.id}/pause`);
    plane.containers.set(lost.job.id, { state: "exited", exitCode: 1, reason: "error", logTail: [] });
    await plane.reconciler.settle();
    expect(await lost.state()).toMatchObject({ state: "paused" });
    const wrong = await runningRun(plane);
    await plane.json("POST", `/runs/${wrong.id}/pause`);
    await wrong.job.exit("failed", { code: "reward_failed", message: "threw" });
    expect(await wrong.state()).toMatchObject({ state: "failed", failure: { code: "reward_failed" } });
  });

  it("ends as it ended if the last step was done already", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await plane.json("POST", `/runs/${id}/pause`);
    await job.exit("succeeded");
    expect(await state()).toMatchObject({ state: "succeeded" });
    expect(await state()).not.toHaveProperty("pauseRequested");
  });

  it("does not count against the time limit", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane, { limits: { durationMs: 60_000 } });
    await plane.json("POST", `/runs/${id}/pause`);
    await job.exit("cancelled");
    plane.clock.advance(600_000);
    await plane.json("POST", `/runs/${id}/resume`);
    await plane.reconciler.settle();
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    await second.heartbeat();
    await plane.reconciler.settle();
    expect(await second.heartbeat()).toEqual({ cancel: false });
    for (let passed = 0; passed < 61; passed++) {
      plane.clock.advance(1_000);
      await second.heartbeat();
      await plane.reconciler.settle();
    }
    expect(await second.heartbeat()).toEqual({ cancel: true });
    expect((await state()).cancelRequested).toBe(true);
  });

  it("can be cancelled while paused; refuses what makes no sense", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    expect(await plane.json<Run>("POST", `/runs/${id}/resume`)).toMatchObject({ state: "running" });
    await plane.json("POST", `/runs/${id}/pause`);
    expect(await errorOf(plane, `/runs/${id}/resume`)).toBe("conflict");
    await job.exit("cancelled");
    expect(await plane.json<Run>("POST", `/runs/${id}/pause`)).toMatchObject({ state: "paused" });
    await plane.json("POST", `/runs/${id}/cancel`);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "cancelled" });
    expect(await errorOf(plane, `/runs/${id}/pause`)).toBe("conflict");
    expect(await errorOf(plane, `/runs/${id}/resume`)).toBe("conflict");
    expect(await errorOf(plane, "/runs/run-none/pause")).toBe("not_found");
  });
});
