import { describe, expect, it, onTestFinished } from "vitest";
import type { AwsContainers } from "../../../../functions/aws/aws-containers.ts";
import { isRecent } from "../../../../functions/aws/recent.ts";
import type { FakeAws } from "../../../fakes/aws/index.ts";
import { gym, spec } from "../gym.ts";
import { MINUTE_MS } from "./plane.ts";

const JOBS = ["serve-base-r1-1", "train-run-1-a1"];
const HOUR_MS = 60 * MINUTE_MS;

/** A process whose clock a test sets, which hears no events and keeps what it saw for a while. */
async function withClock(): Promise<{
  aws: FakeAws;
  containers: AwsContainers;
  set: (byMs: number) => void;
}> {
  let offsetMs = 0;
  const { aws, another } = await gym(
    onTestFinished,
    {},
    {
      freshMs: 30_000,
      clock: {
        now: () => aws.clock.now() + offsetMs,
        after: (ms, callback) => aws.clock.after(ms, callback),
      },
    },
  );
  return { aws, containers: another(), set: (byMs) => void (offsetMs = byMs) };
}

describe("a clock that jumps", () => {
  it.each([-HOUR_MS, HOUR_MS])("by %i ms makes nothing look as it was before", async (byMs) => {
    const { aws, containers, set } = await withClock();
    for (const jobId of JOBS) await containers.launch(spec(jobId));
    expect(await containers.list()).toHaveLength(2);
    set(byMs);
    await aws.clock.advance(MINUTE_MS);
    for (const jobId of JOBS) expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
    for (const container of aws.containers.all) container.end(0);
    set(0);
    await aws.clock.advance(MINUTE_MS);
    expect(await containers.list()).toEqual([]);
  });

  it("back, lets nobody wait for room that was refused before", async () => {
    const { aws, containers, set } = await withClock();
    aws.control.failNext("RunTask", { failures: [{ reason: "RESOURCE:GPU" }] });
    await containers.launch(spec("serve-base-r1-1"));
    expect(await containers.describe("serve-base-r1-1")).toMatchObject({ state: "waiting" });
    set(-HOUR_MS);
    expect(await containers.describe("serve-base-r1-1")).toEqual({ state: "unknown" });
  });

  it("makes what lies ahead no news of today", () => {
    expect([
      isRecent(100, 100, 10),
      isRecent(90, 100, 10),
      isRecent(91, 100, 10),
      isRecent(101, 100, 10),
    ]).toEqual([true, false, true, false]);
  });
});
