import {
  DescribeJobsCommand,
  ListJobsCommand,
  SubmitJobCommand,
  TerminateJobCommand,
  type BatchClient,
  type JobDetail,
  type SubmitJobCommandInput,
} from "@aws-sdk/client-batch";
import { DescribeContainerInstancesCommand } from "@aws-sdk/client-ecs";
import { describe, expect, it } from "vitest";
import { retries } from "../../../fakes/aws/batch/retry.ts";
import { world } from "./world.ts";

const plain = { jobName: "run-1", jobQueue: "cpu", jobDefinition: "plain" };

async function submit(batch: BatchClient, input: Partial<SubmitJobCommandInput> = {}): Promise<string> {
  return (await batch.send(new SubmitJobCommand({ ...plain, ...input }))).jobId ?? "";
}

async function shown(batch: BatchClient, jobId: string): Promise<JobDetail | undefined> {
  return (await batch.send(new DescribeJobsCommand({ jobs: [jobId] }))).jobs?.[0];
}

describe("the life of a job", () => {
  it("goes through every state to SUCCEEDED, and is forgotten after a week", async () => {
    const { aws, batch } = await world();
    const jobId = await submit(batch, {
      containerOverrides: { command: ["train"], environment: [{ name: "A", value: "1" }] },
    });
    const seen: (string | undefined)[] = [];
    for (const ms of [0, 1_000, 1_000, 10_000]) {
      await aws.clock.advance(ms);
      seen.push((await shown(batch, jobId))?.status);
    }
    expect(seen).toEqual(["SUBMITTED", "PENDING", "STARTING", "RUNNING"]);
    expect(aws.containers.all[0]?.run).toMatchObject({
      command: ["train"],
      environment: { A: "1", AWS_BATCH_JOB_ID: jobId, AWS_BATCH_JOB_ATTEMPT: "1" },
      cpu: 1024,
      memoryMiB: 512,
    });
    aws.containers.all[0]?.end(0);
    await aws.clock.advance(0);
    expect(await shown(batch, jobId)).toMatchObject({
      status: "SUCCEEDED",
      statusReason: "Essential container in task exited",
      container: { exitCode: 0 },
      attempts: [{ container: { exitCode: 0 } }],
    });
    await aws.clock.advance(7 * 24 * 3_600_000);
    expect(await shown(batch, jobId)).toBeUndefined();
  });

  it("waits in RUNNABLE for an instance, which its compute environment's own cluster knows", async () => {
    const { aws, batch, ecs } = await world();
    const jobId = await submit(batch, { jobQueue: "train", jobDefinition: "train" });
    await aws.clock.advance(60_000);
    expect((await shown(batch, jobId))?.status).toBe("RUNNABLE");
    await aws.clock.advance(50_000);
    const job = await shown(batch, jobId);
    expect(job?.status).toBe("RUNNING");
    const instanceArn = job?.container?.containerInstanceArn ?? "";
    const at = (cluster: string) => ({ cluster, containerInstances: [instanceArn] });
    const own = await ecs.send(new DescribeContainerInstancesCommand(at("AWSBatch-gpu")));
    expect(own.containerInstances?.[0]?.ec2InstanceId).toBe(aws.pools.get("gpu")?.alive[0]?.id);
    const other = await ecs.send(new DescribeContainerInstancesCommand(at("main")));
    expect(other.failures).toEqual([{ arn: instanceArn, reason: "MISSING" }]);
  });

  it("runs attempts as its rules say, and counts them", async () => {
    const { aws, batch } = await world();
    const jobId = await submit(batch, {
      retryStrategy: {
        attempts: 3,
        evaluateOnExit: [
          { onExitCode: "14*", action: "RETRY" },
          { onReason: "*", action: "EXIT" },
        ],
      },
    });
    await aws.clock.advance(15_000);
    aws.containers.all[0]?.end(143);
    await aws.clock.advance(15_000);
    expect(aws.containers.all[1]?.run.environment.AWS_BATCH_JOB_ATTEMPT).toBe("2");
    aws.containers.all[1]?.end(1);
    await aws.clock.advance(15_000);
    const job = await shown(batch, jobId);
    expect(job).toMatchObject({ status: "FAILED", container: { exitCode: 1 } });
    expect(job?.attempts?.map(({ container }) => container?.exitCode)).toEqual([143, 1]);
  });

  it("ends at its timeout without another attempt", async () => {
    const { aws, batch } = await world();
    const jobId = await submit(batch, {
      timeout: { attemptDurationSeconds: 60 },
      retryStrategy: { attempts: 3 },
    });
    await aws.clock.advance(90_000);
    const job = await shown(batch, jobId);
    expect(job).toMatchObject({ status: "FAILED", statusReason: "Job attempt duration exceeded timeout" });
    expect(job?.attempts).toHaveLength(1);
  });

  it("is terminated in any state, and not retried", async () => {
    const { aws, batch } = await world();
    const waiting = await submit(batch, { retryStrategy: { attempts: 3 } });
    await batch.send(new TerminateJobCommand({ jobId: waiting, reason: "no longer wanted" }));
    const running = await submit(batch, { retryStrategy: { attempts: 3 } });
    await aws.clock.advance(15_000);
    await batch.send(new TerminateJobCommand({ jobId: running, reason: "enough" }));
    await aws.clock.advance(60_000);
    expect(await shown(batch, waiting)).toMatchObject({ status: "FAILED", statusReason: "no longer wanted" });
    expect(await shown(batch, running)).toMatchObject({
      status: "FAILED",
      statusReason: "enough",
      isTerminated: true,
    });
    expect(aws.containers.all.map(({ signals }) => signals)).toEqual([["SIGTERM"]]);
  });

  it("waits for the jobs it depends on", async () => {
    const { aws, batch } = await world();
    const first = await submit(batch);
    const second = await submit(batch, { jobName: "run-2", dependsOn: [{ jobId: first }] });
    await aws.clock.advance(60_000);
    expect((await shown(batch, second))?.status).toBe("PENDING");
    aws.containers.all[0]?.end(0);
    await aws.clock.advance(15_000);
    expect((await shown(batch, second))?.status).toBe("RUNNING");
  });
});

describe("the rules of SubmitJob and ListJobs", () => {
  it("makes two jobs of the same call twice, and finds both by name in any state", async () => {
    const { batch } = await world();
    const ids = [await submit(batch), await submit(batch), await submit(batch, { jobName: "run-10" })];
    const find = async (value: string): Promise<(string | undefined)[]> => {
      const filters = [{ name: "JOB_NAME", values: [value] }];
      const { jobSummaryList } = await batch.send(new ListJobsCommand({ jobQueue: "cpu", filters }));
      return (jobSummaryList ?? []).map(({ jobId }) => jobId).sort();
    };
    expect(await find("run-1")).toEqual(ids.slice(0, 2).sort());
    expect(await find("run-1*")).toEqual([...ids].sort());
    const running = await batch.send(new ListJobsCommand({ jobQueue: "cpu" }));
    expect(running.jobSummaryList).toEqual([]);
  });

  it.each([
    [{ jobName: "a name" }, "Job name should match"],
    [{ jobName: "x".repeat(129) }, "Job name should match"],
    [{ jobQueue: "other" }, "does not exist"],
    [{ jobDefinition: "other" }, "not found"],
    [{ retryStrategy: { attempts: 11 } }, "between 1 and 10"],
    [
      { retryStrategy: { attempts: 2, evaluateOnExit: Array(6).fill({ action: "EXIT", onReason: "*" }) } },
      "at most 5",
    ],
    [{ timeout: { attemptDurationSeconds: 59 } }, "at least 60"],
    [
      { containerOverrides: { environment: [{ name: "A", value: "x".repeat(31_000) }] } },
      "larger than 30 KiB",
    ],
    [
      { containerOverrides: { environment: [{ name: "AWS_BATCH_X", value: "" }] } },
      "may not start with AWS_BATCH",
    ],
    [
      {
        jobDefinition: "fargate",
        containerOverrides: { resourceRequirements: [{ type: "VCPU", value: "3" }] },
      },
      "No Fargate",
    ],
    [
      {
        jobDefinition: "fargate",
        containerOverrides: { resourceRequirements: [{ type: "GPU", value: "1" }] },
      },
      "no GPU",
    ],
  ])("refuses %o", async (part, message) => {
    const { batch } = await world();
    await expect(submit(batch, part as Partial<SubmitJobCommandInput>)).rejects.toThrow(message);
  });

  it("retries when no rule matches, and matches only a prefix", () => {
    const end = { exitCode: 1, reason: undefined, statusReason: "Host EC2 (instance i-0) terminated." };
    const rule = (onStatusReason: string, action: "EXIT" | "RETRY") => ({ onStatusReason, action });
    expect(retries({ attempts: 3 }, 1, end)).toBe(true);
    expect(retries({ attempts: 3 }, 3, end)).toBe(false);
    expect(retries({ attempts: 3, evaluateOnExit: [rule("Host", "EXIT")] }, 1, end)).toBe(true);
    expect(retries({ attempts: 3, evaluateOnExit: [rule("Host*", "EXIT")] }, 1, end)).toBe(false);
    expect(
      retries({ attempts: 3, evaluateOnExit: [rule("Host EC2*", "RETRY"), rule("*", "EXIT")] }, 1, end),
    ).toBe(true);
    expect(retries({ attempts: 3, evaluateOnExit: [{ onReason: "*", action: "EXIT" }] }, 1, end)).toBe(false);
  });
});
