import { describe, expect, it, onTestFinished } from "vitest";
import type { FakeContainer } from "../../../fakes/aws/index.ts";
import { awsPlane, LEASE_MS, MINUTE_MS, SERVES } from "./plane.ts";
import { serving } from "./started.ts";

describe("a health check that flaps", () => {
  it("restarts nothing: a replica that beats is busy, not broken", async () => {
    const { plane, container } = await serving();
    for (let turn = 0; turn < 4; turn++) {
      plane.aws.control.health(container.run.arn, turn % 2 === 0 ? "UNHEALTHY" : "HEALTHY");
      await plane.pass(15_000);
    }
    expect(await plane.endpoint()).toMatchObject({ state: "ready", startFailures: 0 });
    expect(plane.aws.containers.all).toHaveLength(1);
    expect(container.signals).toEqual([]);
  });

  it("is judged by the lease: a silent replica is replaced", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    await plane.launchEndpoint();
    await plane.until(() => plane.aws.containers.all.length === 1, MINUTE_MS);
    // It runs and never says a word.
    await plane.until(() => plane.aws.containers.all.length === 2, LEASE_MS + 3 * MINUTE_MS);
    expect(plane.aws.containers.all[0]?.exit).toBeDefined();
    expect((await plane.endpoint()).failure?.code).toBe("container_lost");
  });

  it("does not go on for ever: after three starts in vain the endpoint gives up, and says why", async () => {
    const plane = await awsPlane(onTestFinished, SERVES);
    await plane.launchEndpoint();
    const ended = new Set<FakeContainer>();
    const crash = async () => {
      for (const container of plane.aws.containers.all) {
        if (!ended.has(container)) container.end(1);
        ended.add(container);
      }
      return (await plane.endpoint()).state === "failed";
    };
    await plane.until(crash, 15 * MINUTE_MS);
    expect(plane.aws.containers.all).toHaveLength(3);
    expect(await plane.endpoint()).toMatchObject({ desired: 0, failure: { code: "container_failed" } });
    await plane.pass(5 * MINUTE_MS);
    expect(plane.aws.containers.all).toHaveLength(3);
  });
});
