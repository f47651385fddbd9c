import { describe, expect, it, onTestFinished } from "vitest";
import type { ContainerState } from "../../../../functions/ports/containers.ts";
import { gym, spec } from "../gym.ts";
import { awsPlane, MINUTE_MS, TRAINS_ON_CPU } from "./plane.ts";

const JOBS = ["serve-base-r1-1", "train-run-1-a1"];
const ORDER = ["unknown", "waiting", "starting", "running", "exited"];
const ranks = (states: ContainerState[]) => states.map(({ state }) => ORDER.indexOf(state));

describe("events", () => {
  it.each(JOBS)("tell of each change of %s", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    const heard: Promise<ContainerState>[] = [];
    containers.onChange((changed) => heard.push(containers.describe(changed)));
    await containers.launch(spec(jobId));
    await aws.clock.advance(MINUTE_MS);
    aws.containers.all[0]?.end(0);
    await aws.clock.until(async () => (await containers.describe(jobId)).state === "exited", MINUTE_MS);
    await aws.clock.advance(MINUTE_MS);
    const states = (await Promise.all(heard)).map(({ state }) => state);
    expect(states).toEqual(expect.arrayContaining(["running", "exited"]));
  });

  it.each([1, 2, 3, 4, 5])(
    "that are lost, doubled and late never move a state backwards (seed %i)",
    async (seed) => {
      const { aws, containers } = await gym(onTestFinished);
      aws.control.events({ lose: 0.3, duplicate: 0.5, reorder: 0.7, delayMs: 40_000, seed });
      for (const jobId of JOBS) await containers.launch(spec(jobId));
      const seen = new Map<string, ContainerState[]>(JOBS.map((jobId) => [jobId, []]));
      const look = async () => {
        for (const jobId of JOBS) seen.get(jobId)?.push(await containers.describe(jobId));
      };
      for (let turn = 0; turn < 60; turn++) {
        await aws.clock.advance(2_000);
        if (turn === 25) for (const container of aws.containers.all) container.end(3);
        await look();
      }
      for (const states of seen.values()) {
        expect(ranks(states)).toEqual(ranks(states).toSorted((a, b) => a - b));
        expect(states.at(-1)).toMatchObject({ state: "exited", exitCode: 3 });
      }
    },
  );

  it.each(JOBS)("of before its end change nothing about %s, nor tell anybody", async (jobId) => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec(jobId));
    await aws.clock.advance(MINUTE_MS);
    aws.containers.all[0]?.end(0);
    await aws.clock.until(async () => (await containers.describe(jobId)).state === "exited", MINUTE_MS);
    await aws.clock.advance(MINUTE_MS);
    const changes: string[] = [];
    containers.onChange((changed) => changes.push(changed));
    for (const event of [...aws.events.published, ...aws.events.published.toReversed()])
      await containers.heard(event);
    await new Promise(setImmediate);
    expect(changes).toEqual([]);
    expect(await containers.describe(jobId)).toMatchObject({ state: "exited", exitCode: 0, reason: "done" });
  });

  it("of others, or of nothing we know, are passed over", async () => {
    const { containers, aws } = await gym(onTestFinished);
    for (const event of [
      undefined,
      "x",
      {},
      { "detail-type": "ECS Task State Change", detail: {} },
      { "detail-type": "Something", detail: {} },
    ])
      await containers.heard(event);
    const detail = {
      taskArn: "arn:aws:ecs:us-east-1:123456789012:task/other/1",
      version: 1,
      lastStatus: "RUNNING",
    };
    await containers.heard({ "detail-type": "ECS Task State Change", detail });
    expect(aws.containers.all).toEqual([]);
    expect(await containers.list()).toEqual([]);
  });

  it("may all be lost: the sweep of the control plane sees the end", async () => {
    const plane = await awsPlane(onTestFinished, TRAINS_ON_CPU);
    plane.aws.control.events({ lose: 1 });
    const id = await plane.launchRun();
    await plane.until(() => plane.aws.containers.all.length === 1, 2 * MINUTE_MS);
    plane.aws.containers.all[0]?.end(1);
    await plane.until(async () => (await plane.run(id)).attempt === 2, 2 * MINUTE_MS);
  });
});
