import { describe, expect, it, onTestFinished } from "vitest";
import { gym, PARAMS, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, SERVES, TRAINS_ON_CPU } from "./plane.ts";

const TIMEOUT = "CannotPullContainerError: context deadline exceeded (Client.Timeout exceeded)";

describe("an image that cannot be pulled", () => {
  it.each(["serve-base-r1-1", "train-run-1-a1"])("is why %s did not start", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.cannotPull();
    await containers.launch(spec(jobId));
    await aws.clock.advance(MINUTE_MS);
    expect(await containers.describe(jobId)).toMatchObject({
      state: "exited",
      exitCode: null,
      reason: "image",
      detail: expect.stringContaining("CannotPullContainerError") as string,
    });
  });

  it("fails a run at once: another attempt would find no other one", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    plane.aws.control.cannotPull({ count: 5 });
    const id = await plane.launchRun();
    await plane.until(async () => (await plane.run(id)).state === "failed", 2 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({
      attempt: 1,
      failure: { code: "image_unavailable", message: expect.stringContaining("not found") as string },
    });
    expect(plane.aws.calls.filter(({ operation }) => operation === "SubmitJob")).toHaveLength(1);
  });

  it("fails an endpoint at once, too", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    plane.aws.control.cannotPull({ count: 5 });
    await plane.launchEndpoint();
    await plane.until(async () => (await plane.endpoint()).state === "failed", 2 * MINUTE_MS);
    expect((await plane.endpoint()).failure?.code).toBe("image_unavailable");
    expect(plane.aws.calls.filter(({ operation }) => operation === "RunTask")).toHaveLength(1);
  });

  it("is pulled again where the registry was only slow", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    plane.aws.control.failStart(TIMEOUT);
    const id = await plane.launchRun();
    await plane.until(() => plane.aws.containers.all.length === 1, 3 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 2 });
  });

  it("may take longer to be pulled than a lease: what starts is not lost", async () => {
    const pull = { taskPendingMs: 6 * MINUTE_MS, jobStartingMs: 6 * MINUTE_MS };
    const plane = await awsPlane(onTestFinished, { ...PARAMS, work: TRAINS_ON_CPU.work }, { delays: pull });
    const id = await plane.launchRun();
    await plane.launchEndpoint();
    await plane.until(() => plane.aws.containers.all.length === 2, 10 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 1 });
    expect(await plane.endpoint()).toMatchObject({
      startFailures: 0,
      replicas: [{ jobId: "serve-base-r1-1" }],
    });
    // The lease counts from where it can speak.
    await plane.pass(30_000);
    for (const container of plane.aws.containers.all) expect(await plane.job(container).beat()).toBe(true);
    await plane.until(async () => (await plane.run(id)).state === "running", MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 1 });
    expect((await plane.endpoint()).startFailures).toBe(0);
  });
});
