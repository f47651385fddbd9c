import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";

const DAMAGES: [string, (path: string) => void, string][] = [
  ["truncated", (path) => truncateSync(path, 5), "has 5 bytes, not 30"],
  ["altered", (path) => writeFileSync(path, "w".repeat(30)), "does not match its hash"],
  ["missing", (path) => rmSync(path), "is gone"],
];

function weightsOf({ path }: Checkpoint): string {
  return join(path, "model", "w.safetensors");
}

/** The container of an attempt dies; the next attempt begins. */
async function nextAttempt(plane: TestPlane, jobId: string): Promise<void> {
  plane.containers.set(jobId, { state: "exited", exitCode: 137, reason: "error", logTail: [] });
  await plane.reconciler.settle();
  plane.clock.advance(5_000);
  await plane.reconciler.settle();
}

describe("a damaged checkpoint", () => {
  it.each(DAMAGES)("that is %s is not chosen: the one before is (27)", async (_, damage, what) => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await job.save(1);
    await job.save(2);
    damage(weightsOf(await job.save(3)));
    await nextAttempt(plane, job.id);
    expect(await state()).toMatchObject({ attempt: 2, step: 2 });
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    expect(await second.call<JobSpec>("GET", "")).toMatchObject({ resume: { id: `${id}@2` } });
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const warnings = events.flatMap(({ body }) => (body.type === "log" ? [body.message] : []));
    expect(warnings).toContain(`${id}@3 is damaged: model/w.safetensors ${what}; going on from ${id}@2`);

    const listed = async () =>
      (await plane.json<{ items: Checkpoint[] }>("GET", `/runs/${id}/checkpoints`)).items.map(
        (each) => each.id,
      );
    expect(await listed()).toEqual([`${id}@1`, `${id}@2`]);
    const served = await plane.call("POST", "/endpoints", {
      model: { name: "spotter/nano" },
      checkpoint: `${id}@3`,
    });
    expect(await served.json()).toMatchObject({ error: { code: "blob_corrupt", where: `${id}@3` } });

    // The run comes by that step again.
    expect(await second.save(3)).toMatchObject({ id: `${id}@3`, attempt: 2 });
    expect(await listed()).toEqual([`${id}@1`, `${id}@2`, `${id}@3`]);
    const again = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const announced = again.events.filter(({ body }) => body.type === "checkpoint" && body.step === 3);
    expect(announced).toHaveLength(2);
  });

  it("lets a run begin again, loudly, if it was the only one (27)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    truncateSync(weightsOf(await job.save(2)), 0);
    await nextAttempt(plane, job.id);
    expect(await state()).toMatchObject({ attempt: 2, step: 0 });
    expect(await fakeJob(plane, `train-${id}-a2`, 2).call<JobSpec>("GET", "")).not.toHaveProperty("resume");
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    expect(JSON.stringify(events)).toContain("has 0 bytes, not 30; beginning again");
  });

  it("that a container finds damaged is looked at again by the next attempt (27)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await job.save(1);
    const last = await job.save(2);
    await nextAttempt(plane, job.id);
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    await second.heartbeat();
    truncateSync(weightsOf(last), 1);
    await second.exit("failed", { code: "blob_corrupt", message: "does not match its hash" });
    plane.clock.advance(5_000);
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ attempt: 3, step: 1 });
  });

  it("of an attempt is never mixed with the files of another (30)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    await job.save(1);
    const content = "half";
    const files = [{ path: "model/w.safetensors", size: content.length, sha256: "0".repeat(64) }];
    await job.call("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files });
    expect((await job.answer("PUT", "/uploads/2/model/w.safetensors", content)).status).toBe(500);
    await nextAttempt(plane, job.id);
    const second = fakeJob(plane, `train-${id}-a2`, 2);
    expect(await second.call<JobSpec>("GET", "")).toMatchObject({ resume: { id: `${id}@1` } });
    const saved = await second.save(2);
    expect(saved.path).toMatch(/checkpoints\/2-a2$/);
    expect(saved.attempt).toBe(2);
  });
});
