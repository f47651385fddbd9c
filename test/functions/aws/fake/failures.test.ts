import { AutoScalingClient, DescribeScalingActivitiesCommand } from "@aws-sdk/client-auto-scaling";
import { type BatchClient, DescribeJobsCommand, SubmitJobCommand } from "@aws-sdk/client-batch";
import {
  DescribeTasksCommand,
  type ECSClient,
  RunTaskCommand,
  type RunTaskCommandInput,
  type Task,
} from "@aws-sdk/client-ecs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AwsEvent } from "../../../fakes/aws/index.ts";
import { world } from "./world.ts";

const plain = { cluster: "main", taskDefinition: "plain" };
const onGpu = {
  cluster: "main",
  taskDefinition: "serve",
  capacityProviderStrategy: [{ capacityProvider: "gpu" }],
};
const job = { jobName: "run-1", jobQueue: "train", jobDefinition: "train" };
const hostLost = expect.stringMatching(/^Host EC2 \(instance i-\w+\) terminated\.$/) as unknown;

async function run(ecs: ECSClient, input: RunTaskCommandInput = onGpu): Promise<string> {
  const { tasks } = await ecs.send(new RunTaskCommand(input));
  return tasks?.[0]?.taskArn ?? "";
}

async function shown(ecs: ECSClient, taskArn: string): Promise<Task | undefined> {
  return (await ecs.send(new DescribeTasksCommand({ cluster: "main", tasks: [taskArn] }))).tasks?.[0];
}

async function submit(batch: BatchClient, input: object = {}): Promise<string> {
  return (await batch.send(new SubmitJobCommand({ ...job, ...input }))).jobId ?? "";
}

const jobOf = async (batch: BatchClient, jobId: string) =>
  (await batch.send(new DescribeJobsCommand({ jobs: [jobId] }))).jobs?.[0];

describe("capacity", () => {
  it("is refused in RunTask's failures, on command and when an instance is full", async () => {
    const { aws, ecs } = await world();
    aws.control.failNext("RunTask", { failures: [{ reason: "RESOURCE:GPU" }] });
    const refused = await ecs.send(new RunTaskCommand(onGpu));
    expect(refused).toMatchObject({ tasks: [], failures: [{ reason: "RESOURCE:GPU" }] });
    await run(ecs);
    await aws.clock.advance(120_000);
    const launched = { cluster: "main", taskDefinition: "serve", launchType: "EC2" as const };
    const { failures } = await ecs.send(new RunTaskCommand(launched));
    expect(failures).toMatchObject([{ reason: "RESOURCE:GPU" }]);
  });

  it.each([
    ["InsufficientInstanceCapacity" as const, /^CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY/],
    ["VcpuLimitExceeded" as const, /VcpuLimitExceeded/],
  ])("lacks by %s: tasks and jobs wait, and say why where the service does", async (error, statusReason) => {
    const { aws, ecs, batch } = await world();
    const asg = new AutoScalingClient({ ...aws.clientConfig, maxAttempts: 1 });
    onTestFinished(() => asg.destroy());
    aws.control.capacity("gpu", { error });
    const taskArn = await run(ecs);
    const jobId = await submit(batch);
    await aws.clock.advance(300_000);
    expect((await shown(ecs, taskArn))?.lastStatus).toBe("PROVISIONING");
    expect(await jobOf(batch, jobId)).toMatchObject({
      status: "RUNNABLE",
      statusReason: expect.stringMatching(statusReason) as unknown,
    });
    const { Activities } = await asg.send(
      new DescribeScalingActivitiesCommand({ AutoScalingGroupName: "gpu" }),
    );
    expect(Activities?.[0]).toMatchObject({
      StatusCode: "Failed",
      StatusMessage: expect.stringContaining(error) as unknown,
    });
    aws.control.capacity("gpu", undefined);
    await aws.clock.advance(300_000);
    expect((await shown(ecs, taskArn))?.lastStatus).toBe("RUNNING");
    expect((await jobOf(batch, jobId))?.status).toBe("RUNNING");
  });

  it("that a queue does not wait for any longer cancels the job", async () => {
    const reason = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY";
    const { aws, batch } = await world({
      queues: [{ name: "train", pools: ["gpu"], timeLimits: [{ reason, maxTimeSeconds: 600 }] }],
    });
    aws.control.capacity("gpu", { error: "InsufficientInstanceCapacity" });
    const jobId = await submit(batch);
    await aws.clock.advance(601_000);
    expect((await jobOf(batch, jobId))?.status).toBe("RUNNABLE");
    await aws.clock.advance(2_000);
    expect(await jobOf(batch, jobId)).toMatchObject({
      status: "FAILED",
      statusReason: expect.stringContaining(reason) as unknown,
    });
  });

  it("never exists for a job that fits no instance", async () => {
    const { aws, batch } = await world();
    const jobId = await submit(batch, {
      containerOverrides: { resourceRequirements: [{ type: "MEMORY", value: "16384" }] },
    });
    await aws.clock.advance(600_000);
    expect((await jobOf(batch, jobId))?.statusReason).toMatch(/^MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT/);
    expect(aws.pools.get("gpu")?.instances).toEqual([]);
  });
});

describe("containers", () => {
  it("cannot be pulled", async () => {
    const { aws, ecs, batch } = await world();
    aws.control.cannotPull({ name: "me" });
    aws.control.cannotPull({ name: "run-1" });
    const taskArn = await run(ecs, { ...plain, startedBy: "me" });
    const jobId = await submit(batch);
    await aws.clock.advance(150_000);
    expect(await shown(ecs, taskArn)).toMatchObject({
      lastStatus: "STOPPED",
      stopCode: "TaskFailedToStart",
      stoppedReason: expect.stringMatching(/^CannotPullContainerError: /) as unknown,
    });
    expect(await jobOf(batch, jobId)).toMatchObject({
      status: "FAILED",
      statusReason: "Task failed to start",
      container: { reason: expect.stringMatching(/^CannotPullContainerError: /) as unknown },
    });
    expect(aws.containers.all).toEqual([]);
  });

  it("run out of memory", async () => {
    const { aws, ecs, batch } = await world();
    const taskArn = await run(ecs, plain);
    const jobId = await submit(batch);
    await aws.clock.advance(120_000);
    aws.control.oom(taskArn);
    aws.control.oom((await jobOf(batch, jobId))?.jobArn ?? "");
    await aws.clock.advance(10_000);
    const reason = "OutOfMemoryError: Container killed due to memory usage";
    expect(await shown(ecs, taskArn)).toMatchObject({
      stopCode: "EssentialContainerExited",
      containers: [{ exitCode: 137, reason }],
    });
    expect(await jobOf(batch, jobId)).toMatchObject({
      status: "FAILED",
      container: { exitCode: 137, reason },
    });
  });

  it("flap between healthy and not, and each change is an event", async () => {
    const events: AwsEvent[] = [];
    const { aws, ecs } = await world({ onEvent: (event) => void events.push(event) });
    const taskArn = await run(ecs, plain);
    await aws.clock.advance(20_000);
    const before = events.length;
    for (const status of ["UNHEALTHY", "HEALTHY", "UNHEALTHY"] as const) aws.control.health(taskArn, status);
    await aws.clock.advance(1_000);
    expect((await shown(ecs, taskArn))?.healthStatus).toBe("UNHEALTHY");
    const seen = events.slice(before).map(({ detail }) => detail.healthStatus);
    expect(seen).toEqual(["UNHEALTHY", "HEALTHY", "UNHEALTHY"]);
  });
});

describe("instances", () => {
  it("are reclaimed two minutes after a warning: the task stops, the job's rule runs it again", async () => {
    const events: AwsEvent[] = [];
    const { aws, ecs, batch } = await world({ onEvent: (event) => void events.push(event) });
    const taskArn = await run(ecs);
    const retryStrategy = {
      attempts: 3,
      evaluateOnExit: [
        { onStatusReason: "Host EC2*", action: "RETRY" },
        { onReason: "*", action: "EXIT" },
      ],
    };
    const jobId = await submit(batch, { retryStrategy });
    await aws.clock.advance(120_000);
    aws.control.rebalance(taskArn);
    await aws.clock.advance(1_000);
    expect(events.at(-1)).toMatchObject({ "detail-type": "EC2 Instance Rebalance Recommendation" });
    aws.control.interruptSpot(taskArn);
    aws.control.interruptSpot(jobId);
    await aws.clock.advance(119_000);
    const warnings = events.filter(
      (each) => each["detail-type"] === "EC2 Spot Instance Interruption Warning",
    );
    expect(warnings.map(({ detail }) => detail["instance-action"])).toEqual(["terminate", "terminate"]);
    expect(aws.containers.all.map(({ signals }) => signals)).toEqual([[], []]);
    await aws.clock.advance(10_000);
    const stopped = await shown(ecs, taskArn);
    expect(stopped).toMatchObject({
      lastStatus: "STOPPED",
      stopCode: "TerminationNotice",
      stoppedReason: hostLost,
    });
    expect(stopped?.containers?.[0]).not.toHaveProperty("exitCode");
    await aws.clock.advance(150_000);
    const job = await jobOf(batch, jobId);
    expect(job).toMatchObject({ status: "RUNNING", attempts: [{ statusReason: hostLost }] });
    expect(aws.containers.of(job?.jobArn ?? "").map(({ signals }) => signals)).toEqual([["SIGTERM"], []]);
  });

  it("of Fargate Spot are reclaimed too", async () => {
    const { aws, ecs } = await world();
    const taskArn = await run(ecs, {
      ...plain,
      capacityProviderStrategy: [{ capacityProvider: "FARGATE_SPOT" }],
    });
    await aws.clock.advance(20_000);
    aws.control.interruptSpot(taskArn);
    await aws.clock.advance(10_000);
    expect(await shown(ecs, taskArn)).toMatchObject({ stopCode: "SpotInterruption", lastStatus: "STOPPED" });
  });

  it("are orphaned: nobody uses, counts or ends them", async () => {
    const { aws, ecs } = await world();
    const id = aws.control.orphanInstance("gpu", { "spotter:stack": "dev" });
    await aws.clock.advance(120_000);
    const taskArn = await run(ecs);
    await aws.clock.advance(120_000);
    expect((await shown(ecs, taskArn))?.containerInstanceArn).not.toContain(id);
    await aws.clock.advance(7_200_000);
    const orphan = aws.pools.get("gpu")?.instances.find((each) => each.id === id);
    expect(orphan).toMatchObject({ state: "running" });
    expect(orphan?.tags.get("spotter:stack")).toBe("dev");
  });
});
