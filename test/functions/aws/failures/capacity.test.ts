import { describe, expect, it, onTestFinished } from "vitest";
import { GPU, gym, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, SERVES, TRAINS } from "./plane.ts";
import { onlyContainer } from "./started.ts";

const REPLICA = "serve-base-r1-1";
const JOB = "train-run-1-a1";

describe("no capacity", () => {
  it("is what a task waits for while its group gets no instance, in the group's own words", async () => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    await containers.launch(spec(REPLICA, { hardware: GPU }));
    await aws.clock.advance(10 * MINUTE_MS);
    expect(await containers.describe(REPLICA)).toMatchObject({
      state: "waiting",
      reason: "capacity",
      detail: expect.stringContaining("sufficient capacity") as string,
    });
    aws.control.capacity("gpu", undefined);
    await aws.clock.advance(10 * MINUTE_MS);
    expect(await containers.describe(REPLICA)).toMatchObject({ state: "running" });
  });

  it("makes a refused RunTask wait, and be asked for again", async () => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.failNext("RunTask", { failures: [{ reason: "RESOURCE:GPU" }] });
    await containers.launch(spec(REPLICA, { hardware: GPU }));
    expect(await containers.describe(REPLICA)).toEqual({
      state: "waiting",
      reason: "capacity",
      detail: "RESOURCE:GPU",
    });
    await aws.clock.advance(40_000);
    // Unknown and never started: the control plane launches it again, with a token that holds.
    expect(await containers.describe(REPLICA)).toEqual({ state: "unknown" });
    await containers.launch(spec(REPLICA, { hardware: GPU }));
    await aws.clock.advance(5 * MINUTE_MS);
    expect(await containers.describe(REPLICA)).toMatchObject({ state: "running" });
  });

  it("ends a job that its queue lets wait no longer", async () => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    await containers.launch(spec(JOB, { hardware: GPU }));
    await aws.clock.advance(10 * MINUTE_MS);
    expect(await containers.describe(JOB)).toMatchObject({
      state: "waiting",
      reason: "capacity",
      detail: expect.stringContaining("CAPACITY:") as string,
    });
    await aws.clock.advance(30 * MINUTE_MS);
    expect(await containers.describe(JOB)).toMatchObject({ state: "exited", reason: "capacity" });
  });

  it("says so of a job that no instance type fits", async () => {
    const { containers, aws } = await gym(onTestFinished);
    await containers.launch(spec(JOB, { hardware: { ...GPU, count: 8 } }));
    await aws.clock.advance(MINUTE_MS);
    expect(await containers.describe(JOB)).toMatchObject({
      state: "waiting",
      reason: "capacity",
      detail: expect.stringContaining("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT") as string,
    });
  });

  it("shows in a run what it waits for, which goes on when there is room", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS);
    plane.aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    const id = await plane.launchRun({ hardware: GPU });
    await plane.pass(2 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ state: "provisioning", waitingFor: "capacity" });
    plane.aws.control.capacity("gpu", undefined);
    await plane.until(async () => (await plane.run(id)).state === "starting");
    expect((await plane.run(id)).waitingFor).toBeUndefined();
  });

  it("makes an endpoint say no_capacity after a quarter of an hour, and takes its task back", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    plane.aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    await plane.launchEndpoint({ hardware: GPU });
    await plane.pass(MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({
      replicas: [{ state: "waiting", waitingFor: "capacity" }],
    });
    await plane.pass(13 * MINUTE_MS);
    expect((await plane.endpoint()).failure).toBeUndefined();
    await plane.pass(2 * MINUTE_MS);
    const endpoint = await plane.endpoint();
    expect(endpoint).toMatchObject({ state: "creating", failure: { code: "no_capacity" } });
    expect(endpoint.failure?.message).toMatch(/waited 1[56] minutes; .*sufficient capacity/);
    // The one that waited in vain was taken out of the queue: it must not come up unasked.
    await plane.until(async () => (await plane.containers.list()).length <= 1, 5 * MINUTE_MS);
    plane.aws.control.capacity("gpu", undefined);
    const job = plane.job(await onlyContainer(plane));
    await job.beat();
    await job.report({ type: "ready", address: "127.0.0.1:1" });
    await plane.until(async () => (await plane.endpoint()).state === "ready", MINUTE_MS);
    const ready = await plane.endpoint();
    expect(ready.failure).toBeUndefined();
    expect(ready.replicas[0]).not.toHaveProperty("waitingFor");
  });
});
