import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { gym, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, TRAINS_ON_CPU } from "./plane.ts";
import { onlyContainer, serving } from "./started.ts";

const THROTTLED = { error: "ThrottlingException", message: "Rate exceeded" };
const AWAY = { error: "ServerException", message: "Service Unavailable", status: 503 };
const STORMS = [
  ["serve-base-r1-1", "RunTask", THROTTLED],
  ["serve-base-r1-1", "ListTasks", THROTTLED],
  ["train-run-1-a1", "SubmitJob", THROTTLED],
  ["train-run-1-a1", "SubmitJob", AWAY],
  ["train-run-1-a1", "ListJobs", THROTTLED],
] as const;

// The clients' own repetitions take real seconds, and a storm outlasts them.
beforeAll(() => void vi.stubEnv("AWS_MAX_ATTEMPTS", "1"));
afterAll(() => void vi.unstubAllEnvs());

describe("a storm of throttling", () => {
  it.each(STORMS)(
    "makes %s wait while %s answers %o, and is no failure of it",
    async (jobId, call, failure) => {
      const { aws, containers, passUntil } = await gym(onTestFinished);
      aws.control.fail(call, failure, { probability: 1 });
      await passUntil(containers.launch(spec(jobId)));
      aws.control.clear();
      expect(await containers.describe(jobId)).toMatchObject({ state: "waiting", reason: "capacity" });
      await aws.clock.advance(40_000);
      expect(await containers.describe(jobId)).toEqual({ state: "unknown" });
      await passUntil(containers.launch(spec(jobId)));
      await aws.clock.advance(MINUTE_MS);
      expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
      expect(aws.containers.all).toHaveLength(1);
    },
  );

  it("of two minutes costs a run no attempt", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    plane.aws.control.fail("SubmitJob", THROTTLED, { probability: 1 });
    const id = await plane.launchRun();
    await plane.pass(2 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ state: "provisioning", waitingFor: "capacity", attempt: 1 });
    plane.aws.control.clear();
    const container = await onlyContainer(plane);
    expect(await plane.job(container).beat()).toBe(true);
    expect(await plane.run(id)).toMatchObject({ attempt: 1 });
  });

  it("over what AWS is asked about a replica stops none", async () => {
    const { plane, container } = await serving();
    for (const call of ["DescribeTasks", "ListTasks"])
      plane.aws.control.fail(call, THROTTLED, { probability: 0.7, seed: 7 });
    await plane.pass(2 * MINUTE_MS);
    plane.aws.control.clear();
    await plane.pass(30_000);
    expect(await plane.endpoint()).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
    expect(container.signals).toEqual([]);
  });

  it("is told from a refusal, which the same launch would meet again", async () => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.fail("SubmitJob", { error: "ClientException", message: "no such queue" }, { probability: 1 });
    await expect(containers.launch(spec("train-run-1-a1"))).rejects.toMatchObject({
      code: "container_failed",
    });
  });
});
