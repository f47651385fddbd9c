import { describe, expect, it, onTestFinished, vi } from "vitest";
import { awsPlane, LEASE_MS, MINUTE_MS, SERVES, TRAINS_ON_CPU } from "./plane.ts";

describe("a control plane that sees nothing", () => {
  it("stops no replica while AWS does not answer", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    await plane.launchEndpoint();
    await plane.until(() => plane.aws.containers.all.length === 1, MINUTE_MS);
    const [first] = plane.aws.containers.all;
    if (first === undefined) throw new Error("no container");
    const job = plane.job(first);
    await job.beat();
    await job.report({ type: "ready", address: "127.0.0.1:1" });
    await plane.until(async () => (await plane.endpoint()).state === "ready", MINUTE_MS);
    plane.aws.control.down(true);
    await plane.pass(2 * MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
    plane.aws.control.down(false);
    await plane.pass(MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
    expect(plane.aws.containers.all).toHaveLength(1);
    expect(first.signals).toEqual([]);
  });

  it("stops no replica while its table does not answer", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    await plane.launchEndpoint();
    await plane.until(() => plane.aws.containers.all.length === 1, MINUTE_MS);
    const failing = vi.spyOn(plane.store, "queryIndex");
    failing.mockRejectedValue(new Error("the table does not answer"));
    await plane.pass(2 * MINUTE_MS);
    expect(failing).toHaveBeenCalled();
    failing.mockRestore();
    expect(plane.aws.containers.all[0]?.signals).toEqual([]);
    expect(await plane.containers.list()).toHaveLength(1);
  });

  it("finds its work again after it was away, and grants every lease once more", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    const id = await plane.launchRun();
    await plane.until(() => plane.aws.containers.all.length === 1, 2 * MINUTE_MS);
    const [container] = plane.aws.containers.all;
    if (container === undefined) throw new Error("no container");
    const job = plane.job(container);
    await job.beat();
    await plane.until(async () => (await plane.run(id)).state === "running", MINUTE_MS);
    // Far longer than the lease without anybody to hear a heartbeat.
    await plane.restart(10 * LEASE_MS);
    await plane.pass(15_000);
    expect(await plane.run(id)).toMatchObject({ state: "running", attempt: 1 });
    expect(await job.beat()).toBe(true);
    await plane.pass(LEASE_MS);
    expect(await plane.run(id)).toMatchObject({ state: "running", attempt: 1 });
    expect(plane.aws.containers.all).toHaveLength(1);
  });
});
