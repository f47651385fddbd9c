import { describe, expect, it, onTestFinished } from "vitest";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { runKey, type RunDocument } from "../../../functions/runs/records.ts";
import { intendJob } from "../../../functions/reconciler/effects-job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

async function runOf(plane: TestPlane, id: string): Promise<RunDetail["run"]> {
  return (await plane.json<RunDetail>("GET", `/runs/${id}`)).run;
}

describe("a new control plane over old state", () => {
  it("goes on with a container that lives, under the token it has", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(first);
    const second = await first.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    const adopted = await second.call("POST", `/jobs/${job.id}/heartbeat`, { attempt: 1 }, job.token);
    expect(adopted.status).toBe(200);
    expect(await runOf(second, id)).toMatchObject({ state: "running", attempt: 1 });
    expect(second.containers.launched).toHaveLength(1);
  });

  it("grants every lease once more before it judges", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(first);
    await first.close();
    first.clock.advance(3_600_000);
    const second = await first.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    expect(await runOf(second, id)).toMatchObject({ state: "running", attempt: 1 });
    for (let passed = 0; passed < 17; passed++) {
      second.clock.advance(1_000);
      await second.reconciler.settle();
    }
    expect(await runOf(second, id)).toMatchObject({ state: "starting", attempt: 2 });
  });

  it("does the same after this machine slept", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job, state } = await runningRun(plane);
    plane.clock.advance(0);
    const sleepMs = 8 * 3_600_000;
    // A sleeping machine runs no timer: time jumps, then the sweep comes.
    const { clock } = plane.control;
    const realNow = clock.now.bind(clock);
    clock.now = () => realNow() + sleepMs;
    plane.reconciler.wake();
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "running", attempt: 1 });
    expect(await job.heartbeat()).toEqual({ cancel: false });
  });

  it("begins a run again whose container is gone without a trace", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(first);
    await job.save(2);
    await first.containers.forget(job.id);
    const second = await first.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    expect(await runOf(second, id)).toMatchObject({ state: "queued" });
    second.clock.advance(1_000);
    await second.reconciler.settle();
    expect(await runOf(second, id)).toMatchObject({ state: "starting", attempt: 2, step: 2 });
  });

  it("starts a container that was intended when the last one died, once", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    first.control.wake = () => {};
    const { run } = await first.json<RunDetail>("POST", "/runs", await preparedSpec(first));
    // Died between writing down the attempt and starting its container.
    const jobId = `train-${run.id}-a1`;
    await intendJob(first.control, { id: jobId, kind: "train", owner: run.id, attempt: 1 });
    const document = await first.control.store.get<RunDocument>(runKey(run.id));
    const value = { ...document?.value, run: { ...run, state: "provisioning", attempt: 1 } };
    await first.control.store.put(runKey(run.id), value);
    const second = await first.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    expect(second.containers.launched.map((spec) => spec.jobId)).toEqual([jobId]);
    await fakeJob(second, jobId, 1).heartbeat();
    await second.reconciler.settle();
    expect(await runOf(second, run.id)).toMatchObject({ state: "running", attempt: 1 });
  });

  it("stops containers that nobody owns (74)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { state } = await runningRun(plane);
    const environment = { SPOTTER_URL: "", SPOTTER_JOB_ID: "train-x-a1", SPOTTER_JOB_TOKEN: "" };
    await plane.containers.launch({ jobId: "train-x-a1", kind: "train", environment });
    plane.reconciler.wake();
    await plane.reconciler.settle();
    expect(plane.containers.stopped).toEqual(["train-x-a1"]);
    expect((await state()).state).toBe("running");
  });

  it("leaves no timer behind when it is closed", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await runningRun(plane);
    await plane.close();
    expect(plane.clock.pending).toBe(0);
  });
});
