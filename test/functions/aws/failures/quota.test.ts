import { describe, expect, it, onTestFinished } from "vitest";
import { GPU, gym, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, SERVES, TRAINS } from "./plane.ts";

describe("a quota", () => {
  it.each(["serve-base-r1-1", "train-run-1-a1"])("is why %s waits", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    aws.control.capacity("gpu", { error: "VcpuLimitExceeded" });
    await containers.launch(spec(jobId, { hardware: GPU }));
    await aws.clock.advance(5 * MINUTE_MS);
    expect(await containers.describe(jobId)).toMatchObject({
      state: "waiting",
      reason: "quota",
      detail: expect.stringContaining("vCPU") as string,
    });
  });

  it("is what a run says it waits for", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS);
    plane.aws.control.capacity("gpu", { error: "VcpuLimitExceeded" });
    const id = await plane.launchRun({ hardware: GPU });
    await plane.until(async () => (await plane.run(id)).waitingFor === "quota", 3 * MINUTE_MS);
  });

  it("ends an endpoint, which says whom to ask, and is not tried again", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    plane.aws.control.capacity("gpu", { error: "VcpuLimitExceeded" });
    await plane.launchEndpoint({ hardware: GPU });
    await plane.until(async () => (await plane.endpoint()).state === "failed", 17 * MINUTE_MS);
    expect((await plane.endpoint()).failure).toMatchObject({
      code: "cloud_quota_exceeded",
      hint: expect.stringContaining("Service Quotas") as string,
    });
    const messages = [{ role: "user", content: "hi" }];
    const answer = await plane.call("POST", "/v1/chat/completions", { model: "base", messages });
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("vCPU");
    await plane.until(async () => (await plane.containers.list()).length === 0, 2 * MINUTE_MS);
    expect(plane.aws.calls.filter(({ operation }) => operation === "RunTask")).toHaveLength(1);
  });
});
