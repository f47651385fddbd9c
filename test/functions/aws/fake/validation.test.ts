import { AutoScalingClient, SetDesiredCapacityCommand } from "@aws-sdk/client-auto-scaling";
import { SubmitJobCommand } from "@aws-sdk/client-batch";
import { DescribeInstancesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { ECSClient, ListTasksCommand, RunTaskCommand } from "@aws-sdk/client-ecs";
import * as lambda from "@aws-sdk/client-lambda";
import { describe, expect, it } from "vitest";
import { operationOf } from "../../../fakes/aws/wire/schema.ts";
import { problemsOf } from "../../../fakes/aws/wire/validate.ts";
import { startFakeAws } from "../../../fakes/aws/index.ts";
import { world } from "./world.ts";

const task = { cluster: "main", taskDefinition: "plain" };

describe("what the SDK's models do not allow", () => {
  it("is refused in a real client's call, at any depth, before it is dropped on the way", async () => {
    const { aws, ecs, batch } = await world();
    await expect(ecs.send(new RunTaskCommand({ ...task, launchTyp: "FARGATE" } as never))).rejects.toThrow(
      "launchTyp is not a member of RunTaskRequest",
    );
    const overrides = { containerOverrides: [{ name: "engine", enviroment: [] }] };
    await expect(ecs.send(new RunTaskCommand({ ...task, overrides }))).rejects.toThrow(
      "overrides.containerOverrides[0].enviroment is not a member of ContainerOverride",
    );
    const job = { jobName: "a", jobQueue: "cpu", jobDefinition: "plain", priority: 1 };
    await expect(batch.send(new SubmitJobCommand(job as never))).rejects.toThrow("priority is not a member");
    expect(aws.calls).toEqual([]);
  });

  it("is accepted by clients again once the last fake is gone", async () => {
    const first = await startFakeAws();
    const second = await startFakeAws();
    const ecs = new ECSClient({ ...second.clientConfig, maxAttempts: 1 });
    const wrong = (): Promise<unknown> => ecs.send(new ListTasksCommand({ bogus: 1 } as never));
    await first.close();
    await expect(wrong()).rejects.toThrow("bogus is not a member");
    await second.close();
    await expect(wrong()).rejects.toThrow("ECONNREFUSED");
    ecs.destroy();
  });

  it.each([
    [
      "AmazonEC2ContainerServiceV20141113.RunTask",
      { ...task, bogus: 1 },
      "bogus is not a member of RunTaskRequest",
    ],
    ["AmazonEC2ContainerServiceV20141113.RunTask", {}, "taskDefinition is required by RunTaskRequest"],
    [
      "AmazonEC2ContainerServiceV20141113.RunTask",
      { ...task, count: "2" },
      "count must be a number, not string",
    ],
    ["AmazonEC2ContainerServiceV20141113.RunTask", { ...task, tags: {} }, "tags must be a list"],
    ["AmazonEC2ContainerServiceV20141113.RunTaks", {}, "no service for POST /"],
    [
      "AWSEvents.PutEvents",
      { Entries: [{ Sorce: "x" }] },
      "Entries[0].Sorce is not a member of PutEventsRequestEntry",
    ],
  ])("is refused on the wire: %s %o", async (target, input, message) => {
    const { aws } = await world();
    const response = await fetch(aws.endpoint, {
      method: "POST",
      headers: { "x-amz-target": target, "content-type": "application/x-amz-json-1.1" },
      body: JSON.stringify(input),
    });
    expect(response.ok).toBe(false);
    expect(((await response.json()) as { message: string }).message).toContain(message);
  });

  it.each([
    ["Action=DescribeInstances&Version=2016-11-15&Instances.1=i-1", "Instances is not a member"],
    ["Action=DescribeInstances&Version=2016-11-15&MaxResults=many", "MaxResults must be a number"],
    ["Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName=gpu", "DesiredCapacity is required"],
  ])("is refused in a form: %s", async (body, message) => {
    const { aws } = await world();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(aws.endpoint, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
  });

  it("throws the SDK's typed exceptions", async () => {
    const { aws, ecs, batch } = await world();
    const names = async (sent: Promise<unknown>): Promise<string> =>
      sent.then(
        () => "nothing",
        (error: unknown) => (error as Error).name,
      );
    const ec2 = new EC2Client({ ...aws.clientConfig, maxAttempts: 1 });
    const asg = new AutoScalingClient({ ...aws.clientConfig, maxAttempts: 1 });
    const group = { AutoScalingGroupName: "other", DesiredCapacity: 1 };
    expect(await names(ecs.send(new RunTaskCommand({ ...task, cluster: "other" })))).toBe(
      "ClusterNotFoundException",
    );
    expect(await names(batch.send(new SubmitJobCommand({} as never)))).toBe("ClientException");
    expect(await names(ec2.send(new DescribeInstancesCommand({ InstanceIds: ["i-0"] })))).toBe(
      "InvalidInstanceID.NotFound",
    );
    expect(await names(asg.send(new SetDesiredCapacityCommand(group)))).toBe("ValidationError");
    ec2.destroy();
    asg.destroy();
  });

  it("knows bytes, maps and structures of the models", () => {
    const invoke = operationOf(lambda, "Invoke");
    expect(invoke?.input.kind).toBe("structure");
    if (invoke === undefined) return;
    expect(problemsOf(invoke.input, { FunctionName: "f", Payload: new Uint8Array() })).toEqual([]);
    expect(problemsOf(invoke.input, { FunctionName: "f", Payload: 1 })).toEqual([
      "Payload must be bytes, not number",
    ]);
    const create = operationOf(lambda, "CreateFunction");
    expect(
      create === undefined ? [] : problemsOf(create.input, { Environment: { Variables: { A: 1 } } }),
    ).toContain("Environment.Variables.A must be a string, not number");
  });
});
