import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readEvent } from "../../../../functions/aws/aws-containers/events.ts";
import { allPages } from "../../../../functions/aws/aws-containers/pages.ts";
import { gym, spec, STACK } from "../gym.ts";
import { MINUTE_MS } from "./plane.ts";

const TASK = `arn:aws:ecs:us-east-1:123456789012:task/${STACK}/1`;
const META = { $metadata: {} };
const tags = [
  { key: "spotter:stack", value: STACK },
  { key: "spotter:job", value: "serve-base-r1-1" },
];

describe("events that are not as they should be", () => {
  it("say nothing where they lack what they are about", () => {
    const task = { taskArn: TASK, version: 3, lastStatus: "RUNNING" };
    for (const [type, detail] of [
      ["ECS Task State Change", { ...task, taskArn: 7 }],
      ["ECS Task State Change", { ...task, version: "3" }],
      ["ECS Task State Change", { ...task, version: Number.NaN }],
      ["ECS Task State Change", { ...task, lastStatus: null }],
      ["Batch Job State Change", { jobId: "1" }],
      ["EC2 Spot Instance Interruption Warning", { "instance-id": "i-1 || runningTasksCount == 0" }],
      ["EC2 Spot Instance Interruption Warning", { "instance-id": ["i-0123456789abcdef0"] }],
      ["EC2 Spot Instance Interruption Warning", null],
      [["ECS Task State Change"], task],
      ["__proto__", task],
    ])
      expect(readEvent({ "detail-type": type, detail })).toBeUndefined();
  });

  it("are read as far as they are sound", () => {
    const detail = { taskArn: TASK, version: 3, lastStatus: "STOPPED", stopCode: 4, startedAt: "yesterday" };
    expect(
      readEvent({ "detail-type": "ECS Task State Change", detail: { ...detail, containers: "none" } }),
    ).toEqual({
      type: "task",
      change: { taskArn: TASK, version: 3, lastStatus: "STOPPED", containers: [] },
    });
    const job = {
      jobId: "1",
      status: "FAILED",
      tags: "x",
      attempts: 3,
      startedAt: "now",
      container: { exitCode: "1" },
    };
    expect(readEvent({ "detail-type": "Batch Job State Change", detail: job })).toEqual({
      type: "job",
      job: { jobId: "1", status: "FAILED", tags: {}, attempts: [], container: {} },
    });
  });

  it("change nothing, however many and large they are", async () => {
    const { aws, containers } = await gym(onTestFinished);
    await containers.launch(spec("serve-base-r1-1"));
    await containers.launch(spec("train-run-1-a1"));
    await aws.clock.advance(MINUTE_MS);
    const known = aws.events.published.map(({ "detail-type": type, detail }) => ({ type, detail }));
    for (const { type, detail } of known)
      for (const field of Object.keys(detail)) {
        await containers.heard({ "detail-type": type, detail: { ...detail, [field]: null } });
        await containers.heard({
          "detail-type": type,
          detail: { ...detail, [field]: { x: "y".repeat(1_000) } },
        });
      }
    await containers.heard({
      "detail-type": known[0]?.type,
      detail: { ...known[0]?.detail, tags: "z".repeat(250_000) },
    });
    await aws.clock.advance(MINUTE_MS);
    for (const jobId of ["serve-base-r1-1", "train-run-1-a1"])
      expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
    for (const { signals } of aws.containers.all) expect(signals).toEqual([]);
  });

  it("cause no call for tasks that Batch or others run", async () => {
    const { aws, containers } = await gym(onTestFinished);
    for (const cluster of ["AWSBatch-gpu", "somebody-else"]) {
      const detail = { taskArn: TASK.replace(STACK, cluster), version: 1, lastStatus: "RUNNING" };
      await containers.heard({ "detail-type": "ECS Task State Change", detail });
    }
    expect(aws.calls).toEqual([]);
  });
});

describe("answers that are not as they should be", () => {
  it("start nothing twice, and hide nothing that runs", async () => {
    const { aws, apis, containers, passUntil } = await gym(onTestFinished);
    const [ecs, batch] = await Promise.all([apis.ecs(), apis.batch()]);
    const runTask = ecs.runTask.bind(ecs);
    const submitJob = batch.submitJob.bind(batch);
    vi.spyOn(ecs, "runTask").mockImplementationOnce(async (input) => (await runTask(input), META));
    vi.spyOn(batch, "submitJob").mockImplementationOnce(async (input) => {
      await submitJob(input);
      return { ...META, jobName: undefined, jobId: undefined };
    });
    for (const jobId of ["serve-base-r1-1", "train-run-1-a1"]) {
      await passUntil(containers.launch(spec(jobId)));
      await aws.clock.advance(MINUTE_MS);
      expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
    }
    expect(aws.containers.all).toHaveLength(2);
  });

  it("are passed over where they do not say whose something is", async () => {
    const { apis, containers } = await gym(onTestFinished);
    const [ecs, batch] = await Promise.all([apis.ecs(), apis.batch()]);
    vi.spyOn(ecs, "listTasks").mockResolvedValue({ ...META, taskArns: ["a", "b"] });
    vi.spyOn(ecs, "describeTasks").mockResolvedValue({
      ...META,
      tasks: [{}, { taskArn: "a" }, { taskArn: "b", tags: [{}, { key: "spotter:stack" }, ...tags] }],
    });
    vi.spyOn(batch, "listJobs").mockResolvedValue({ ...META, jobSummaryList: undefined });
    vi.spyOn(batch, "describeJobs").mockResolvedValue({ ...META, jobs: undefined });
    expect(await containers.list()).toEqual([]);
  });

  it("end a list that would go round for ever", async () => {
    const page = vi.fn(async () => ({ items: [1], nextToken: "again" }));
    await expect(allPages(page)).rejects.toThrow("repeats a page");
    expect(page).toHaveBeenCalledTimes(2);
  });
});
