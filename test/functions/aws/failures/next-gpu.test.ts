import { describe, expect, it, onTestFinished } from "vitest";
import type { FakeAwsOptions } from "../../../fakes/aws/index.ts";
import { PARAMS, STACK, WORLD } from "../gym.ts";
import { awsPlane, MINUTE_MS, type AwsPlane } from "./plane.ts";
import { onlyContainer } from "./started.ts";

/** The stack of the other tests, with a second kind of GPU. */
const TWO_KINDS = {
  ...PARAMS,
  serve: {
    ...PARAMS.serve,
    A10G: { ...PARAMS.serve.L4, capacityProvider: "a10g", autoScalingGroups: ["a10g"] },
  },
  work: { ...PARAMS.work, A10G: { jobDefinition: "work-gpu", jobQueue: "work-a10g" } },
} as typeof PARAMS;

const world: Partial<FakeAwsOptions> = {
  pools: [...(WORLD.pools ?? []), { name: "a10g", instanceType: "g5.xlarge", maxSize: 3 }],
  clusters: [{ name: STACK, capacityProviders: ["gpu", "gpu-spot", "a10g", "FARGATE", "FARGATE_SPOT"] }],
  queues: [...(WORLD.queues ?? []), { name: "work-a10g", pools: ["a10g"] }],
};

const HARDWARE = { gpu: "L4", fallbacks: ["A10G"], count: 1 } as const;
const none = { error: "InsufficientInstanceCapacity" } as const;

async function twoKinds(): Promise<AwsPlane> {
  const plane = await awsPlane(onTestFinished, TWO_KINDS, world);
  plane.aws.control.capacity("gpu", none);
  return plane;
}

describe("no room on the GPU that was asked for", () => {
  it("sends a run to the next after ten minutes, says why, and counts no lost attempt", async () => {
    const plane = await twoKinds();
    const id = await plane.launchRun({ hardware: { ...HARDWARE, fallbacks: ["A10G"] } });
    await plane.pass(9 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 1, waitingFor: "capacity" });
    await plane.until(async () => (await plane.run(id)).attempt === 2, 3 * MINUTE_MS);
    await plane.until(async () => (await plane.run(id)).state === "starting", 5 * MINUTE_MS);
    const { value } = (await plane.store.get({ partition: "jobs", sort: `train-${id}-a2` })) ?? {};
    expect(value).toMatchObject({ hardware: { gpu: "A10G" } });
    const { events } = await plane.json<{ events: { body: { message?: string } }[] }>(
      "GET",
      `/runs/${id}/events`,
    );
    expect(events.map(({ body }) => body.message ?? "").join("\n")).toMatch(
      /Attempt 1 is over \(no_capacity: No instance is to be had: waited 1\d minutes/,
    );
    // The first was taken out of its queue: it must not come up beside the second.
    plane.aws.control.capacity("gpu", undefined);
    await plane.pass(MINUTE_MS);
    expect((await plane.containers.list()).map(({ jobId }) => jobId)).not.toContain(`train-${id}-a1`);
    expect(await plane.containers.describe(`train-${id}-a1`)).toMatchObject({ state: "exited" });
  });

  it("brings an endpoint's replica up on the next", async () => {
    const plane = await twoKinds();
    await plane.launchEndpoint({ hardware: HARDWARE });
    await plane.pass(9 * MINUTE_MS);
    expect((await plane.endpoint()).failure).toBeUndefined();
    await plane.until(async () => (await plane.endpoint()).failure?.code === "no_capacity", 3 * MINUTE_MS);
    const job = plane.job(await onlyContainer(plane));
    await job.beat();
    await job.report({ type: "ready", address: "127.0.0.1:1" });
    await plane.until(async () => (await plane.endpoint()).state === "ready", MINUTE_MS);
    expect((await plane.endpoint()).failure).toBeUndefined();
  });
});
