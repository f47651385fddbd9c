import { describe, expect, it, vi } from "vitest";
import { LEASE_MS, MINUTE_MS } from "./plane.ts";
import { serving, training } from "./started.ts";

describe("a control plane that sees nothing", () => {
  it("stops no replica while AWS does not answer", async () => {
    const { plane, container } = await serving();
    plane.aws.control.down(true);
    await plane.pass(2 * MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
    plane.aws.control.down(false);
    await plane.pass(MINUTE_MS);
    expect(await plane.endpoint()).toMatchObject({ state: "ready", replicas: [{ state: "ready" }] });
    expect(plane.aws.containers.all).toHaveLength(1);
    expect(container.signals).toEqual([]);
  });

  it("stops no replica while its table does not answer", async () => {
    const { plane, container } = await serving();
    const failing = vi.spyOn(plane.store, "queryIndex");
    failing.mockRejectedValue(new Error("the table does not answer"));
    await plane.pass(2 * MINUTE_MS);
    expect(failing).toHaveBeenCalled();
    failing.mockRestore();
    expect(container.signals).toEqual([]);
    expect(await plane.containers.list()).toHaveLength(1);
  });

  it("finds its work again after it was away, and grants every lease once more", async () => {
    const { plane, id, job } = await training();
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
