import { BatchClient, ListJobsCommand, SubmitJobCommand } from "@aws-sdk/client-batch";
import { DescribeTasksCommand, ECSClient, ListTasksCommand, RunTaskCommand } from "@aws-sdk/client-ecs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AwsEvent } from "../../../fakes/aws/index.ts";
import { world } from "./world.ts";

const job = { jobName: "run-1", jobQueue: "train", jobDefinition: "train" };

async function run(ecs: ECSClient): Promise<string> {
  const { tasks } = await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain" }));
  return tasks?.[0]?.taskArn ?? "";
}

const shown = async (ecs: ECSClient, taskArn: string) =>
  (await ecs.send(new DescribeTasksCommand({ cluster: "main", tasks: [taskArn] }))).tasks?.[0];

describe("calls that fail", () => {
  it("fail as often as asked, which the SDK's own retries outlast", async () => {
    const { aws } = await world();
    const ecs = new ECSClient({ ...aws.clientConfig, maxAttempts: 3 });
    onTestFinished(() => ecs.destroy());
    aws.control.fail("ecs.ListTasks", { error: "ServerException", status: 500 }, { count: 2 });
    expect((await ecs.send(new ListTasksCommand({ cluster: "main" }))).taskArns).toEqual([]);
    expect(aws.calls.map(({ error }) => error)).toEqual(["ServerException", "ServerException", undefined]);
  });

  it("are throttled or fail with a 5xx, and do nothing", async () => {
    const { aws, ecs } = await world();
    aws.control.failNext("RunTask", { error: "ThrottlingException", message: "Rate exceeded" });
    await expect(run(ecs)).rejects.toMatchObject({ name: "ThrottlingException", message: "Rate exceeded" });
    aws.control.failNext("RunTask", { error: "ServerException", status: 500 });
    await expect(run(ecs)).rejects.toMatchObject({
      name: "ServerException",
      $metadata: { httpStatusCode: 500 },
    });
    expect((await ecs.send(new ListTasksCommand({ cluster: "main" }))).taskArns).toEqual([]);
  });

  it("lose their answers: RunTask's token makes the retry harmless, SubmitJob's retry is a second job", async () => {
    const { aws } = await world();
    const ecs = new ECSClient({ ...aws.clientConfig, maxAttempts: 3 });
    const batch = new BatchClient({ ...aws.clientConfig, maxAttempts: 3 });
    onTestFinished(() => [ecs, batch].forEach((each) => each.destroy()));
    aws.control.failNext("RunTask", { lost: true });
    aws.control.failNext("SubmitJob", { lost: true });
    await run(ecs);
    await batch.send(new SubmitJobCommand(job));
    expect((await ecs.send(new ListTasksCommand({ cluster: "main" }))).taskArns).toHaveLength(1);
    const filters = [{ name: "JOB_NAME", values: ["run-1"] }];
    const { jobSummaryList } = await batch.send(new ListJobsCommand({ jobQueue: "train", filters }));
    expect(jobSummaryList).toHaveLength(2);
    expect(aws.calls.filter(({ lost }) => lost).map(({ operation }) => operation)).toEqual([
      "RunTask",
      "SubmitJob",
    ]);
  });

  it("fail by chance, the same in every run of a seed", async () => {
    const outcomes = async (seed: number): Promise<boolean[]> => {
      const { aws, ecs } = await world();
      aws.control.fail("*", { unreachable: true }, { probability: 0.5, seed });
      const all: boolean[] = [];
      for (let each = 0; each < 12; each++) {
        all.push(
          await ecs.send(new ListTasksCommand({ cluster: "main" })).then(
            () => true,
            () => false,
          ),
        );
      }
      return all;
    };
    const first = await outcomes(7);
    expect(new Set(first)).toEqual(new Set([true, false]));
    expect(await outcomes(7)).toEqual(first);
    expect(await outcomes(8)).not.toEqual(first);
  });

  it("reach nothing while everything is down; what runs goes on, and events arrive afterwards", async () => {
    const events: AwsEvent[] = [];
    const { aws, ecs } = await world({ onEvent: (event) => void events.push(event) });
    const taskArn = await run(ecs);
    await aws.clock.advance(20_000);
    const before = events.length;
    aws.control.downFor(60_000);
    aws.control.exit(taskArn, 3);
    await aws.clock.advance(30_000);
    await expect(shown(ecs, taskArn)).rejects.toThrow();
    expect(events).toHaveLength(before);
    await aws.clock.advance(30_000);
    expect((await shown(ecs, taskArn))?.lastStatus).toBe("STOPPED");
    expect(events.at(-1)?.detail.lastStatus).toBe("STOPPED");
  });
});
