import { describe, expect, it, onTestFinished } from "vitest";
import type { ConvertJob } from "../../../sdk/schema/job.ts";
import type { CleanupReport } from "../../../sdk/schema/cleanup.ts";
import { requeueConversion } from "../../../functions/reconciler/effects-conversion.ts";
import { conversionsOf } from "../../../functions/conversions/records.ts";
import type { TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, type FakeJob } from "../../fakes/job.ts";
import { detailOf, eventsOf, KEY, keep, launch, launchedJobs, slimePlane } from "./converting.ts";

/** A run whose weights are being converted. */
async function converting(): Promise<{ plane: TestPlane; id: string; job: FakeJob }> {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const id = await launch(plane);
  return { plane, id, job: await speaking(plane, id) };
}

async function speaking(plane: TestPlane, id: string, attempt = 1): Promise<FakeJob> {
  const job = fakeJob(plane, `convert-${id}-c-model-a${attempt}`, attempt);
  await job.heartbeat();
  await plane.reconciler.settle();
  return job;
}

const stateOf = async (plane: TestPlane, id: string) => (await conversionsOf(plane.control, id))[0]?.state;

describe("weights that a run needs in Megatron's format", () => {
  it("are converted by a job of their own before its first attempt", async () => {
    const { plane, id, job } = await converting();
    expect(plane.containers.launched).toMatchObject([
      { kind: "convert", engine: "slime", hardware: { gpu: "H100", count: 1 } },
    ]);
    expect((await detailOf(plane, id)).run).toMatchObject({
      ...{ state: "queued", waitingFor: "conversion", phase: "convert-model", attempt: 0 },
    });
    expect(await plane.json("GET", "/status")).toMatchObject({ activeRuns: 1 });
    const told = await job.call<ConvertJob>("GET", "");
    expect(told).toMatchObject({
      kind: "convert",
      model: { name: "Qwen/Qwen3.5-4B" },
      native: { conversions: { toMegatron: expect.arrayContaining(["--hf-checkpoint"]) as string[] } },
    });
    await job.report({ type: "log", level: "info", message: "half of the layers" });
    expect(await eventsOf(plane, id)).toMatchObject([
      { type: "state", state: "queued" },
      { type: "log", message: expect.stringContaining("Estimated") as string },
      { type: "state", state: "queued", waitingFor: "conversion" },
      { type: "phase", phase: "convert-model" },
      { type: "log", message: "half of the layers" },
    ]);
    expect(await plane.json("GET", `/runs/${id}/logs`)).toEqual({ lines: [`line of ${job.id}`] });
    plane.clock.advance(3_600_000);
    await job.heartbeat();
    await keep(job);
    await job.exit("succeeded");
    expect(launchedJobs(plane, "train")).toEqual([`train-${id}-a1`]);
    const { run, charges } = await detailOf(plane, id);
    expect(run).toMatchObject({ state: "starting", attempt: 1 });
    expect(run).not.toHaveProperty("waitingFor");
    expect(run).not.toHaveProperty("phase");
    // What it costs is the run's: an hour of one GPU before eight of them begin.
    expect(charges).toMatchObject([
      { conversion: `${id}-c-model`, attempt: 1, gpus: 1, startedAtMs: 1_000_000, endedAtMs: 4_600_000 },
      { attempt: 1, gpus: 8, startedAtMs: 4_600_000 },
    ]);
    // The training finds it under the hash of what it has itself.
    const train = fakeJob(plane, `train-${id}-a1`, 1);
    expect(await train.call("GET", `/conversions/${KEY}`)).toMatchObject({ files: [{}, {}, {}] });
  });

  it("are not converted again for another run, unless what was kept is gone or another thing is asked for", async () => {
    const { plane, job } = await converting();
    await keep(job);
    await job.exit("succeeded");
    const second = await launch(plane);
    expect(launchedJobs(plane, "train").at(-1)).toBe(`train-${second}-a1`);
    expect((await eventsOf(plane, second)).filter(({ type }) => type === "phase")).toEqual([]);
    const other = await launch(plane, { model: { name: "Qwen/Qwen3.5-4B", revision: "e".repeat(64) } });
    expect(launchedJobs(plane, "convert").at(-1)).toBe(`convert-${other}-c-model-a1`);
    await plane.call("POST", `/runs/${other}/cancel`);
    plane.clock.advance(9 * 86_400_000);
    const { items } = await plane.json<CleanupReport>("POST", "/cleanup", {});
    expect(items.map(({ name }) => name)).toContain(`conversion ${KEY.slice(0, 12)}`);
    const third = await launch(plane);
    expect(launchedJobs(plane, "convert").at(-1)).toBe(`convert-${third}-c-model-a1`);
  });

  it("are converted once for two runs that need the same, and by the second where the first is cancelled", async () => {
    const { plane, id, job } = await converting();
    const second = await launch(plane);
    const third = await launch(plane);
    expect(launchedJobs(plane, "convert")).toEqual([job.id]);
    expect((await detailOf(plane, second)).run).toMatchObject({ waitingFor: "conversion" });
    await plane.json("POST", `/runs/${id}/cancel`);
    await plane.reconciler.settle();
    expect((await detailOf(plane, id)).run.state).toBe("cancelled");
    expect(plane.containers.stopped).toContain(job.id);
    expect(launchedJobs(plane, "convert")).toEqual([job.id, `convert-${second}-c-model-a1`]);
    const taken = await speaking(plane, second);
    await keep(taken);
    await taken.exit("succeeded");
    expect(launchedJobs(plane, "convert")).toHaveLength(2);
    expect(launchedJobs(plane, "train")).toEqual([`train-${second}-a1`, `train-${third}-a1`]);
  });

  it("get further attempts by the policy of runs, and end the run when none is left", async () => {
    const { plane, id, job } = await converting();
    await job.exit("failed", { code: "container_out_of_memory", message: "Killed." });
    expect(await eventsOf(plane, id)).toContainEqual({
      ...{ type: "log", level: "warn" },
      message: "Attempt 1 of the conversion is over (container_out_of_memory: Killed.)",
    });
    expect(launchedJobs(plane, "convert")).toHaveLength(1);
    plane.clock.advance(1_000);
    plane.reconciler.wake();
    await plane.reconciler.settle();
    plane.containers.set(`convert-${id}-c-model-a2`, {
      ...{ state: "exited", exitCode: null, reason: "error", logTail: [] },
    });
    await plane.reconciler.settle();
    plane.clock.advance(2_000);
    plane.reconciler.wake();
    await plane.reconciler.settle();
    await (await speaking(plane, id, 3)).exit("failed", { code: "engine_failed", message: "Bad shape." });
    const { run } = await detailOf(plane, id);
    expect(run).toMatchObject({
      state: "failed",
      attempt: 0,
      failure: {
        code: "conversion_failed",
        message: expect.stringContaining("after 3 attempts (engine_failed: Bad shape.)") as string,
        logTail: [`line of convert-${id}-c-model-a3`],
      },
    });
    expect(launchedJobs(plane, "train")).toEqual([]);
  });

  it("are given up with a pause, and asked for again when the run goes on", async () => {
    const { plane, id, job } = await converting();
    await plane.json("POST", `/runs/${id}/pause`);
    await plane.reconciler.settle();
    expect(plane.containers.stopped).toEqual([job.id]);
    expect(await stateOf(plane, id)).toBe("cancelled");
    expect((await job.answer("POST", "/heartbeat", { attempt: 1 })).status).toBe(410);
    await plane.json("POST", `/runs/${id}/resume`);
    await plane.reconciler.settle();
    const again = await speaking(plane, id, 2);
    await keep(again);
    await again.exit("succeeded");
    expect(launchedJobs(plane, "train")).toEqual([`train-${id}-a1`]);
  });

  it("end with the run's budget, and go with the run", async () => {
    const plane = await slimePlane({ onEnd: onTestFinished });
    const id = await launch(plane, { limits: { maxCostUsd: 2 } });
    const job = await speaking(plane, id);
    plane.clock.advance(3_600_000);
    await job.heartbeat();
    plane.reconciler.wake();
    await plane.reconciler.settle();
    expect((await detailOf(plane, id)).run.failure).toMatchObject({ code: "budget_exceeded" });
    expect(plane.containers.stopped).toContain(job.id);
    expect((await plane.call("DELETE", `/runs/${id}`)).status).toBe(204);
    expect(await conversionsOf(plane.control, id)).toEqual([]);
    expect((await plane.control.store.get({ partition: "jobs", sort: job.id }))?.value).toBeUndefined();
    expect(await plane.containers.list()).toEqual([]);
  });

  it("are not tried again where an attempt has lived as long as its run may", async () => {
    const plane = await slimePlane({ onEnd: onTestFinished });
    const id = await launch(plane, { limits: { durationMs: 600_000 } });
    const { id: jobId } = await speaking(plane, id);
    plane.clock.advance(21 * 60_000);
    plane.containers.set(jobId, { state: "exited", exitCode: 137, reason: "error", logTail: [] });
    await plane.reconciler.settle();
    plane.clock.advance(30 * 60_000);
    await plane.reconciler.settle();
    expect(launchedJobs(plane, "convert")).toHaveLength(1);
    const hint = expect.stringContaining("limits.durationMs") as string;
    expect((await detailOf(plane, id)).run).toMatchObject({
      ...{ state: "failed", failure: { code: "conversion_failed", hint } },
    });
  });

  it("are charged for by attempt, whenever the end of an earlier one is decided", async () => {
    const { plane, id, job } = await converting();
    await job.exit("failed", { code: "container_failed", message: "gone" });
    plane.clock.advance(60_000);
    await plane.reconciler.settle();
    await speaking(plane, id, 2);
    const key = { kind: "convert" as const, id: `${id}-c-model`, attempt: 1 };
    await requeueConversion(plane.control, key, { code: "container_lost", message: "late" }, 0, "loss");
    const { charges = [] } = await detailOf(plane, id);
    expect(charges.map(({ attempt, endedAtMs }) => [attempt, endedAtMs === undefined])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it("are not asked for by an attempt that is over", async () => {
    const { plane, id, job } = await converting();
    await keep(job);
    await job.exit("failed", { code: "container_failed", message: "gone" });
    plane.clock.advance(60_000);
    await plane.reconciler.settle();
    expect((await conversionsOf(plane.control, id))[0]).toMatchObject({ state: "succeeded" });
    expect((await job.answer("GET", `/conversions/${KEY}`)).status).toBe(410);
  });
});
