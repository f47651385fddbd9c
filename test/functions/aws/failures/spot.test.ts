import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gym, spec, SPOT } from "../gym.ts";
import { MINUTE_MS, TRAINS_ON_SPOT } from "./plane.ts";
import { serving, training } from "./started.ts";

interface JobAnswer {
  resume?: { id: string; step: number };
}

describe("a spot instance that is taken back", () => {
  it.each(["serve-base-r1-1", "train-run-1-a1"])("lets %s save during the two minutes", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(jobId, { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    const [container] = aws.containers.all;
    aws.control.interruptSpot(container?.run.arn ?? "");
    await aws.clock.advance(1_000);
    await vi.waitFor(() => expect(container?.signals).toEqual(["SIGTERM"]), 5_000);
    await aws.clock.until(async () => (await containers.describe(jobId)).state === "exited", MINUTE_MS);
    expect(await containers.describe(jobId)).toMatchObject({ exitCode: 143, reason: "preempted" });
  });

  it.each([
    ["serve-base-r1-1", "serve-base-r1-2"],
    ["train-run-1-a1", "train-run-1-a2"],
  ])("takes nobody in any more from its warning on: %s", async (first, second) => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(first, { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    aws.control.interruptSpot(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.until(async () => (await containers.describe(first)).state === "exited", MINUTE_MS);
    const [warned] = aws.pools.get("gpu-spot")?.instances ?? [];
    expect(warned).toMatchObject({ state: "running", draining: true, leases: new Set() });
    // There is room on it, for a minute more.
    await containers.launch(spec(second, { hardware: SPOT }));
    await aws.clock.advance(10 * MINUTE_MS);
    expect(await containers.describe(second)).toMatchObject({ state: "running" });
    expect(aws.containers.all[1]?.signals).toEqual([]);
    expect(aws.pools.get("gpu-spot")?.instances.map(({ state }) => state)).toEqual(["terminated", "running"]);
  });

  it("takes no replica in though nothing ran on it", async () => {
    const { aws, containers, passUntil } = await gym(onTestFinished);
    await containers.launch(spec("serve-base-r1-1", { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    await passUntil(containers.stop("serve-base-r1-1", 0));
    const [warned] = aws.pools.get("gpu-spot")?.instances ?? [];
    aws.control.interruptSpot(warned?.id ?? "");
    await aws.clock.advance(1_000);
    expect(warned).toMatchObject({ state: "running", draining: true });
  });

  it("is told to save also where nobody may keep others away from it", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("train-run-1-a1", { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    aws.control.fail("UpdateContainerInstancesState", { error: "AccessDeniedException" }, { count: 9 });
    aws.control.interruptSpot(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.until(
      async () => (await containers.describe("train-run-1-a1")).state === "exited",
      MINUTE_MS,
    );
    expect(aws.containers.all[0]?.signals).toEqual(["SIGTERM"]);
  });

  it("is told from other ends when no warning came", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("train-run-1-a1", { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    aws.control.terminateInstance(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.advance(2 * MINUTE_MS);
    expect(await containers.describe("train-run-1-a1")).toMatchObject({
      reason: "preempted",
      detail: expect.stringContaining("Host EC2") as string,
    });
  });

  it("is told of on Fargate as well", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("serve-base-r1-1", { hardware: { count: 1, spot: true } }));
    await aws.clock.advance(MINUTE_MS);
    aws.control.interruptSpot(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.advance(MINUTE_MS);
    expect(await containers.describe("serve-base-r1-1")).toMatchObject({ reason: "preempted" });
  });

  it("makes a run go on in a new attempt, from its last checkpoint", async () => {
    const { plane, id, job, container: first } = await training({ hardware: SPOT }, TRAINS_ON_SPOT);
    await job.beat();
    await job.save(2);
    plane.aws.control.interruptSpot(first.run.arn);
    await plane.until(() => plane.aws.containers.all.length === 2, 8 * MINUTE_MS);
    const [, second] = plane.aws.containers.all;
    const token = second?.run.environment["SPOTTER_JOB_TOKEN"];
    const next = await plane.json<JobAnswer>("GET", `/jobs/train-${id}-a2`, undefined, token);
    expect(next.resume).toMatchObject({ step: 2 });
    expect(await plane.run(id)).toMatchObject({ attempt: 2 });
    // Batch did not try again by itself: each attempt is a job of its own, and the old one has no say any more.
    expect(plane.aws.calls.filter(({ operation }) => operation === "SubmitJob")).toHaveLength(2);
    const late = { attempt: 1 };
    expect(
      (
        await plane.call(
          "POST",
          `/jobs/${job.id}/heartbeat`,
          late,
          first.run.environment["SPOTTER_JOB_TOKEN"],
        )
      ).ok,
    ).toBe(false);
  });

  it("brings an endpoint another replica, and counts as no fault of it", async () => {
    const { plane, container } = await serving({ hardware: SPOT });
    plane.aws.control.interruptSpot(container.run.arn);
    await plane.until(() => plane.aws.containers.all.length === 2, 8 * MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({
      startFailures: 0,
      replicas: [{ jobId: "serve-base-r1-2" }],
    });
  });
});

describe("a hint that a spot instance may be taken back", () => {
  it("brings another replica, which serves before the first one goes", async () => {
    const { plane, container } = await serving({ hardware: SPOT });
    plane.aws.control.rebalance(container.run.arn);
    plane.aws.control.rebalance(container.run.arn);
    await plane.until(() => plane.aws.containers.all.length === 2, 8 * MINUTE_MS);
    expect(plane.aws.pools.get("gpu-spot")?.instances[0]).toMatchObject({ draining: true });
    expect(container.signals).toEqual([]);
    expect((await plane.endpoint()).replicas[0]).toMatchObject({ state: "ready" });
    const [, second] = plane.aws.containers.all;
    if (second === undefined) throw new Error("no second container");
    const job = plane.job(second);
    await job.beat();
    await job.report({ type: "ready", address: "127.0.0.1:2" });
    await plane.until(async () => (await plane.endpoint()).replicas.length === 1, 2 * MINUTE_MS);
    expect(container.exit).toBeDefined();
    expect(await plane.endpoint()).toMatchObject({
      startFailures: 0,
      replicas: [{ jobId: "serve-base-r1-2", state: "ready" }],
    });
    expect(plane.aws.containers.all).toHaveLength(2);
  });

  it("leaves a run alone, which saves at the warning", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("train-run-1-a1", { hardware: SPOT }));
    await aws.clock.advance(5 * MINUTE_MS);
    aws.control.rebalance(aws.containers.all[0]?.run.arn ?? "");
    await aws.clock.advance(MINUTE_MS);
    expect(aws.containers.all[0]?.signals).toEqual([]);
    expect(await containers.describe("train-run-1-a1")).toMatchObject({ state: "running" });
  });
});
