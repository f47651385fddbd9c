import { describe, expect, it, onTestFinished } from "vitest";
import { gym, spec } from "../gym.ts";
import { LEASE_MS, MINUTE_MS } from "./plane.ts";
import { training } from "./started.ts";

describe("a job that hangs", () => {
  it("is ended by Batch after its longest life, whether or not anybody watches", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("train-run-1-a1", { maxLifetimeMs: 60 * MINUTE_MS }));
    await aws.clock.advance(59 * MINUTE_MS);
    expect(await containers.describe("train-run-1-a1")).toMatchObject({ state: "running" });
    await aws.clock.advance(5 * MINUTE_MS);
    expect(await containers.describe("train-run-1-a1")).toMatchObject({
      state: "exited",
      reason: "error",
      detail: expect.stringContaining("duration exceeded timeout") as string,
    });
  });

  it("is known by its silence: its run goes on in a new attempt, and the old one has no say", async () => {
    const { plane, id, container: first } = await training();
    const body = { attempt: 1 };
    const token = first.run.environment["SPOTTER_JOB_TOKEN"];
    const beat = () => plane.call("POST", `/jobs/train-${id}-a1/heartbeat`, body, token);
    expect((await beat()).status).toBe(200);
    await plane.until(() => plane.aws.containers.all.length === 2, LEASE_MS + 3 * MINUTE_MS);
    expect(await plane.run(id)).toMatchObject({ attempt: 2 });
    expect((await beat()).ok).toBe(false);
    await plane.until(() => first.exit !== undefined, 2 * MINUTE_MS);
    expect(first.signals[0]).toBe("SIGTERM");
  });
});
