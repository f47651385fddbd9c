import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { cloudPricing } from "../../../functions/cost/pricing.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";

const HOUR = 3_600_000;

async function launched(plane: TestPlane, options: object = {}): Promise<Endpoint> {
  const asked = { model: { name: "spotter/nano" }, name: "nano", ...options };
  const endpoint = await plane.json<Endpoint>("POST", "/endpoints", asked);
  await plane.reconciler.settle();
  return endpoint;
}

const get = (plane: TestPlane) => plane.json<Endpoint>("GET", "/endpoints/nano");

async function pass(plane: TestPlane, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    plane.clock.advance(5_000);
    const { replicas } = await get(plane);
    for (const { jobId } of replicas)
      await fakeJob(plane, jobId, Number(jobId.split("-").at(-1))).heartbeat();
    await plane.reconciler.settle();
  }
}

describe("an endpoint with a longest life", () => {
  it("is stopped then by the control plane, says why, and its home would end it soon after", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await launched(plane, { maxLifetimeMs: 60_000 });
    expect(plane.containers.launched[0]).toMatchObject({ maxLifetimeMs: 660_000 });
    await pass(plane, 55_000);
    expect((await get(plane)).state).toBe("creating");
    await pass(plane, 20_000);
    expect(await get(plane)).toMatchObject({
      ...{ state: "stopped", desired: 0, replicas: [] },
      notes: ["It was stopped because its maxLifetimeMs was over; launch it again to go on."],
    });
    expect(await plane.containers.list()).toEqual([]);
  });

  it("lives as long again when it is launched again", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await launched(plane, { maxLifetimeMs: 60_000 });
    await pass(plane, 50_000);
    await launched(plane, { maxLifetimeMs: 60_000 });
    await pass(plane, 50_000);
    expect((await get(plane)).state).toBe("creating");
    await pass(plane, 20_000);
    expect((await get(plane)).state).toBe("stopped");
    const again = await launched(plane);
    expect(again).toMatchObject({ state: "creating" });
    expect(again).not.toHaveProperty("notes");
    expect(again).not.toHaveProperty("expiresAtMs");
  });
});

describe("what an endpoint runs on", () => {
  it("is part of its identity, reaches its containers and is charged, replicas that are gone too", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.pricing = cloudPricing();
    plane.control.config.maxLifetimeMs = 24 * HOUR;
    const hardware = { gpu: "A10G", count: 1, spot: false };
    await launched(plane, { hardware });
    expect(plane.containers.launched[0]).toMatchObject({ hardware, maxLifetimeMs: 24 * HOUR });
    await pass(plane, 600_000);
    const rate = 1.0279;
    expect((await get(plane)).spend).toEqual({
      ...{ usd: Math.round((rate / 6) * 10_000) / 10_000, gpuSeconds: 600, hourlyUsd: rate },
    });
    expect(await plane.json("GET", "/status")).toMatchObject({ spend: { hourlyUsd: rate } });
    const other = { model: { name: "spotter/nano" }, name: "nano", hardware: { gpu: "H100" } };
    const refused = await plane.call("POST", "/endpoints", other);
    expect(await refused.json()).toMatchObject({
      error: {
        code: "conflict",
        message: expect.stringContaining("hardware is 1 × A10G, asked was 1 × H100") as string,
      },
    });
    await plane.json("DELETE", "/endpoints/nano");
    await plane.reconciler.settle();
    plane.clock.advance(HOUR);
    expect((await get(plane)).spend).toMatchObject({ gpuSeconds: 600, hourlyUsd: 0 });
  });

  it("goes on in another replica at once when the platform takes one back, however often", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.pricing = cloudPricing();
    await launched(plane, { hardware: { gpu: "T4", spot: true } });
    for (let number = 1; number <= 6; number++) {
      const jobId = `serve-nano-r1-${number}`;
      plane.containers.set(jobId, { state: "exited", exitCode: 143, reason: "preempted", logTail: [] });
      await plane.reconciler.settle();
    }
    expect(await get(plane)).toMatchObject({ state: "creating", replicas: [{ jobId: "serve-nano-r1-7" }] });
  });

  it("is said to be ignored on one machine", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    expect((await launched(plane, { hardware: { gpu: "T4" } })).notes).toEqual([
      "Hardware (1 × T4) is ignored: this machine runs on what it has.",
    ]);
  });
});
