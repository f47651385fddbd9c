import { describe, expect, it, onTestFinished } from "vitest";
import { decideSweep } from "../../../../functions/aws/sweep.ts";
import { runSweep, type SweepParams } from "../../../../functions/aws/sweep/run-sweep.ts";
import { jobKey, type JobRecord } from "../../../../functions/jobs/records.ts";
import { memoryStore } from "../../../fakes/memory-store.ts";
import type { SubmitJobCommandInput } from "@aws-sdk/client-batch";
import { GPU, gym, silent, spec, STACK, type Gym } from "../gym.ts";
import { awsPlane, MINUTE_MS, TRAINS_ON_CPU } from "./plane.ts";

function sweepOf({ aws, apis, containers }: Gym): SweepParams {
  return { containers, apis, cluster: STACK, store: memoryStore(), clock: aws.clock, log: silent };
}

async function record({ store }: SweepParams, id: string, fenced = false): Promise<void> {
  const job: JobRecord = {
    v: 1,
    id,
    kind: "train",
    owner: "run-1",
    attempt: 1,
    tokenHash: "",
    createdAtMs: 0,
    fenced,
  };
  await store.put(jobKey(id), job);
}

describe("the sweep on AWS", () => {
  it("ends what no record knows, after a while, and nothing else", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    for (const jobId of ["train-run-1-a1", "train-run-2-a1", "serve-base-r1-1"]) {
      await base.containers.launch(spec(jobId));
      if (jobId !== "serve-base-r1-1") await record(sweep, jobId, jobId === "train-run-2-a1");
    }
    await base.aws.clock.advance(MINUTE_MS);
    expect(await runSweep(sweep)).toEqual([]);
    await base.aws.clock.advance(11 * MINUTE_MS);
    expect(await runSweep(sweep)).toMatchObject([
      { jobId: "serve-base-r1-1", why: "orphan" },
      { jobId: "train-run-2-a1", why: "orphan" },
    ]);
    await base.aws.clock.advance(2 * MINUTE_MS);
    expect(await base.containers.list()).toEqual([{ jobId: "train-run-1-a1", kind: "train" }]);
    expect(await runSweep(sweep)).toEqual([]);
  });

  it("ends the younger of two doubles, and what runs goes on", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    const jobId = "train-run-1-a1";
    await record(sweep, jobId);
    await base.containers.launch(spec(jobId));
    await base.aws.clock.advance(MINUTE_MS);
    // Another launcher whose lists were late: SubmitJob knows no idempotency.
    const [submitted] = base.aws.calls.filter(({ operation }) => operation === "SubmitJob");
    await (await base.apis.batch()).submitJob(submitted?.input as unknown as SubmitJobCommandInput);
    await base.aws.clock.advance(MINUTE_MS);
    expect(base.aws.containers.all).toHaveLength(2);
    expect(await base.containers.list()).toHaveLength(1);
    expect(await runSweep(sweep)).toMatchObject([{ jobId, why: "double" }]);
    await base.aws.clock.advance(MINUTE_MS);
    expect(base.aws.containers.all.map(({ exit }) => exit?.code)).toEqual([undefined, 143]);
    expect(await base.containers.describe(jobId)).toMatchObject({ state: "running" });
  });

  it("ends what has lived as long as it may, though nobody else is there to", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    await record(sweep, "serve-base-r1-1");
    await base.containers.launch(spec("serve-base-r1-1", { maxLifetimeMs: 60 * MINUTE_MS }));
    await base.aws.clock.advance(59 * MINUTE_MS);
    expect(await runSweep(sweep)).toEqual([]);
    await base.aws.clock.advance(2 * MINUTE_MS);
    expect(await runSweep(sweep)).toMatchObject([{ why: "lifetime" }]);
    await base.aws.clock.advance(MINUTE_MS);
    expect(await base.containers.describe("serve-base-r1-1")).toMatchObject({
      reason: "error",
      detail: expect.stringContaining("lived as long as it may") as string,
    });
  });

  it("does not count the time that a job waited in its queue", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    const jobId = "train-run-1-a1";
    await record(sweep, jobId);
    base.aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    await base.containers.launch(spec(jobId, { hardware: GPU, maxLifetimeMs: 10 * MINUTE_MS }));
    await base.aws.clock.advance(20 * MINUTE_MS);
    expect(await base.containers.describe(jobId)).toMatchObject({ state: "waiting" });
    expect(await runSweep(sweep)).toEqual([]);
    base.aws.control.capacity("gpu", undefined);
    await base.aws.clock.until(async () => (await base.containers.describe(jobId)).state === "running");
    await base.aws.clock.advance(9 * MINUTE_MS);
    expect(await runSweep(sweep)).toEqual([]);
    expect(await base.containers.describe(jobId)).toMatchObject({ state: "running" });
  });

  it("ends an instance that nobody uses, and none that somebody does", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    await record(sweep, "serve-base-r1-1");
    await base.containers.launch(spec("serve-base-r1-1", { hardware: GPU }));
    const orphan = base.aws.control.orphanInstance("gpu");
    await base.aws.clock.advance(5 * MINUTE_MS);
    expect(await runSweep(sweep)).toEqual([]);
    await base.aws.clock.advance(31 * MINUTE_MS);
    expect(await runSweep(sweep)).toMatchObject([{ type: "end-instance", why: "idle" }]);
    await base.aws.clock.advance(2 * MINUTE_MS);
    const instances = base.aws.pools.get("gpu")?.instances ?? [];
    expect(instances.filter(({ state }) => state === "terminated").map(({ id }) => id)).toEqual([orphan]);
    expect(await base.containers.describe("serve-base-r1-1")).toMatchObject({ state: "running" });
  });

  it.each(["serve-base-r1-1", "train-run-1-a1"])(
    "ends an instance whose GPU fell off the bus, not only %s",
    async (jobId) => {
      const base = await gym(onTestFinished);
      const sweep = sweepOf(base);
      await record(sweep, jobId);
      await base.containers.launch(spec(jobId, { hardware: GPU }));
      await base.aws.clock.advance(5 * MINUTE_MS);
      base.aws.containers.all[0]?.run.log("NVRM: Xid (PCI:0000:00:1e): 79, GPU has fallen off the bus.");
      base.aws.containers.all[0]?.end(1);
      const isOfBatch = jobId.startsWith("train-");
      // The groups behind Batch are Batch's own.
      if (isOfBatch)
        base.aws.control.failNext("TerminateInstanceInAutoScalingGroup", {
          error: "AccessDenied",
          status: 403,
        });
      await base.aws.clock.advance(MINUTE_MS);
      expect(await base.containers.describe(jobId)).toMatchObject({ reason: "error" });
      expect(await runSweep(sweep)).toMatchObject([{ type: "end-instance", why: "broken" }]);
      await base.aws.clock.advance(2 * MINUTE_MS);
      expect(base.aws.pools.get("gpu")?.instances[0]?.state).toBe("terminated");
    },
  );

  it("is not the only one: the control plane ends containers that it has given up", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    await plane.containers.launch(spec("train-run-of-nobody-a1"));
    plane.plane.reconciler.wake();
    await plane.until(async () => (await plane.containers.list()).length === 0, 2 * MINUTE_MS);
    expect(plane.aws.calls.some(({ operation }) => operation === "TerminateJob")).toBe(true);
  });
});

describe("a sweep that cannot read", () => {
  it("ends nothing that might be in use", async () => {
    const base = await gym(onTestFinished);
    const sweep = sweepOf(base);
    await base.containers.launch(spec("train-run-1-a1"));
    await base.aws.clock.advance(MINUTE_MS);
    const get = sweep.store.get.bind(sweep.store);
    sweep.store.get = async (key) => {
      if (key.partition === "jobs") throw new Error("the table does not answer");
      return get(key);
    };
    await runSweep(sweep);
    await base.aws.clock.advance(30 * MINUTE_MS);
    expect(await runSweep(sweep)).toEqual([]);
    expect(
      decideSweep(
        { living: await base.containers.living(), instances: [], brokenInstances: [] },
        undefined,
        {},
        base.aws.clock.now(),
      ).actions,
    ).toEqual([]);
  });
});
