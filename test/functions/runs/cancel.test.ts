import { describe, expect, it, onTestFinished } from "vitest";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

describe("cancelling a run", () => {
  it("asks the container, which saves and exits", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    const asked = await plane.json<Run>("POST", `/runs/${id}/cancel`);
    expect(asked).toMatchObject({ cancelRequested: true, state: "running" });
    await plane.reconciler.settle();
    expect(plane.containers.stopped).toEqual([]);
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.save(3);
    await job.exit("cancelled");
    expect(await state()).toMatchObject({ state: "cancelled" });
    expect((await state()).failure).toBeUndefined();
  });

  it("stops a container that does not end within its time (44)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await plane.json("POST", `/runs/${id}/cancel`);
    for (let second = 0; second < 61; second++) {
      plane.clock.advance(1_000);
      await plane.reconciler.settle();
      if ((await state()).state === "running") await job.heartbeat();
    }
    expect(await state()).toMatchObject({ state: "cancelled" });
    expect(plane.containers.stopped).toContain(job.id);
  });

  it("ends a waiting run at once, and an ended one stays as it is", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "waiting", reason: "capacity" },
    });
    const { run } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    await plane.reconciler.settle();
    await plane.json("POST", `/runs/${run.id}/cancel`);
    await plane.reconciler.settle();
    const ended = (await plane.json<RunDetail>("GET", `/runs/${run.id}`)).run;
    expect(ended.state).toBe("cancelled");
    const again = await plane.json<Run>("POST", `/runs/${run.id}/cancel`);
    expect(again).toEqual(ended);
  });

  it("does not retry work that was cancelled when its container dies", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await plane.json("POST", `/runs/${id}/cancel`);
    plane.containers.set(job.id, { state: "exited", exitCode: 1, reason: "error", logTail: [] });
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "cancelled", attempt: 1 });
  });

  it("tells a container that was stopped from outside from a cancelled one", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job, state } = await runningRun(plane);
    await job.exit("cancelled");
    expect(await state()).toMatchObject({ state: "queued", failure: { code: "container_lost" } });
  });
});
