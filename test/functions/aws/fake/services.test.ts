import {
  AutoScalingClient,
  DescribeAutoScalingGroupsCommand,
  DescribeScalingActivitiesCommand,
  SetDesiredCapacityCommand,
  TerminateInstanceInAutoScalingGroupCommand,
} from "@aws-sdk/client-auto-scaling";
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  FilterLogEventsCommand,
  GetLogEventsCommand,
  PutLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  EC2Client,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import {
  DescribeContainerInstancesCommand,
  ListContainerInstancesCommand,
  RunTaskCommand,
} from "@aws-sdk/client-ecs";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AwsEvent, FakeAws } from "../../../fakes/aws/index.ts";
import { plainContainer, world } from "./world.ts";

type ClientOf<Client> = new (config: FakeAws["clientConfig"] & { maxAttempts: number }) => Client;

function clientOf<Client extends { destroy(): void }>(aws: FakeAws, Client: ClientOf<Client>): Client {
  const client = new Client({ ...aws.clientConfig, maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  return client;
}

describe("instances and their groups", () => {
  const fixed = {
    pools: [{ name: "gpu", instanceType: "g6.xlarge", maxSize: 3, managedScaling: false, spot: true }],
  };

  it("follow the desired size, are found by their tags, and are replaced when they end", async () => {
    const { aws } = await world(fixed);
    const ec2 = clientOf(aws, EC2Client);
    const asg = clientOf(aws, AutoScalingClient);
    await asg.send(new SetDesiredCapacityCommand({ AutoScalingGroupName: "gpu", DesiredCapacity: 2 }));
    await aws.clock.advance(90_000);
    const groups = await asg.send(new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: ["gpu"] }));
    expect(groups.AutoScalingGroups?.[0]).toMatchObject({ MinSize: 0, MaxSize: 3, DesiredCapacity: 2 });
    const ids = groups.AutoScalingGroups?.[0]?.Instances?.map(({ InstanceId }) => InstanceId ?? "") ?? [];
    expect(ids).toHaveLength(2);

    await ec2.send(
      new CreateTagsCommand({ Resources: [ids[0] ?? ""], Tags: [{ Key: "spotter:job", Value: "a<&b" }] }),
    );
    const Filters = [
      { Name: "tag:spotter:job", Values: ["a*"] },
      { Name: "instance-state-name", Values: ["running"] },
    ];
    const found = await ec2.send(new DescribeInstancesCommand({ Filters }));
    expect(found.Reservations?.flatMap(({ Instances }) => Instances)).toEqual([
      expect.objectContaining({
        InstanceId: ids[0],
        InstanceLifecycle: "spot",
        State: { Code: 16, Name: "running" },
        LaunchTime: new Date(Date.UTC(2026, 10, 29)),
        Tags: expect.arrayContaining([{ Key: "spotter:job", Value: "a<&b" }]) as unknown,
      }),
    ]);

    const ended = await ec2.send(new TerminateInstancesCommand({ InstanceIds: [ids[0] ?? ""] }));
    expect(ended.TerminatingInstances?.[0]?.CurrentState?.Name).toBe("shutting-down");
    await aws.clock.advance(30_000);
    expect(aws.pools.get("gpu")?.alive).toHaveLength(2);
    await asg.send(
      new TerminateInstanceInAutoScalingGroupCommand({
        InstanceId: ids[1],
        ShouldDecrementDesiredCapacity: true,
      }),
    );
    await aws.clock.advance(30_000);
    expect(aws.pools.get("gpu")?.alive).toHaveLength(1);
  });

  it("pages, and refuses a size outside the group's", async () => {
    const { aws } = await world(fixed);
    const ec2 = clientOf(aws, EC2Client);
    const asg = clientOf(aws, AutoScalingClient);
    const size = (DesiredCapacity: number) =>
      asg.send(new SetDesiredCapacityCommand({ AutoScalingGroupName: "gpu", DesiredCapacity }));
    await expect(size(4)).rejects.toThrow("between 0 and 3");
    await size(3);
    const first = await ec2.send(new DescribeInstancesCommand({ MaxResults: 2 }));
    expect(first.Reservations).toHaveLength(2);
    const rest = await ec2.send(new DescribeInstancesCommand({ MaxResults: 2, NextToken: first.NextToken }));
    expect(rest.Reservations).toHaveLength(1);
  });

  it("say in the group's activities and in the cluster what happened", async () => {
    const { aws, ecs } = await world();
    const asg = clientOf(aws, AutoScalingClient);
    await ecs.send(
      new RunTaskCommand({
        cluster: "main",
        taskDefinition: "serve",
        capacityProviderStrategy: [{ capacityProvider: "gpu" }],
      }),
    );
    await aws.clock.advance(120_000);
    const { Activities } = await asg.send(
      new DescribeScalingActivitiesCommand({ AutoScalingGroupName: "gpu" }),
    );
    expect(Activities?.map(({ StatusCode }) => StatusCode)).toEqual(["Successful"]);
    const { containerInstanceArns } = await ecs.send(new ListContainerInstancesCommand({ cluster: "main" }));
    const { containerInstances } = await ecs.send(
      new DescribeContainerInstancesCommand({ cluster: "main", containerInstances: containerInstanceArns }),
    );
    const left = containerInstances?.[0]?.remainingResources?.find(({ name }) => name === "GPU");
    expect(containerInstances?.[0]).toMatchObject({ runningTasksCount: 1, capacityProviderName: "gpu" });
    expect(left?.stringSetValue).toEqual([]);
  });
});

describe("the other services", () => {
  it("deliver what is put on the event bus", async () => {
    const events: AwsEvent[] = [];
    const { aws } = await world({ onEvent: (event) => void events.push(event) });
    const bridge = clientOf(aws, EventBridgeClient);
    const good = { Source: "spotter", DetailType: "wake", Detail: '{"runId":"r"}', Resources: ["x"] };
    const answer = await bridge.send(
      new PutEventsCommand({ Entries: [good, { ...good, Detail: "not json" }] }),
    );
    expect(answer.FailedEntryCount).toBe(1);
    expect(answer.Entries?.[1]?.ErrorCode).toBe("MalformedDetail");
    await aws.clock.advance(1_000);
    expect(events).toEqual([
      expect.objectContaining({
        source: "spotter",
        "detail-type": "wake",
        detail: { runId: "r" },
        resources: ["x"],
      }),
    ]);
  });

  it("keep the lines that containers write, and give them in pages from both ends", async () => {
    const { aws, ecs } = await world({
      taskDefinitions: [
        {
          family: "plain",
          containerDefinitions: [
            {
              ...plainContainer,
              logConfiguration: {
                logDriver: "awslogs",
                options: { "awslogs-group": "/spotter", "awslogs-stream-prefix": "task" },
              },
            },
          ],
        },
      ],
    });
    const client = clientOf(aws, CloudWatchLogsClient);
    const { tasks } = await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain" }));
    await aws.clock.advance(20_000);
    for (const line of ["one", "two", "three"]) aws.containers.all[0]?.run.log(line);
    const at = {
      logGroupName: "/spotter",
      logStreamName: `task/engine/${tasks?.[0]?.taskArn?.split("/").at(-1) ?? ""}`,
    };
    const messages = async (more: object) => {
      const { events, ...tokens } = await client.send(new GetLogEventsCommand({ ...at, ...more }));
      return { lines: events?.map(({ message }) => message), ...tokens };
    };
    const last = await messages({ limit: 2 });
    expect(last.lines).toEqual(["two", "three"]);
    expect((await messages({ limit: 2, nextToken: last.nextBackwardToken })).lines).toEqual(["one"]);
    const end = await messages({ nextToken: last.nextForwardToken });
    expect(end).toMatchObject({ lines: [], nextForwardToken: last.nextForwardToken });
    const filtered = await client.send(
      new FilterLogEventsCommand({ logGroupName: "/spotter", filterPattern: '"thr"' }),
    );
    expect(filtered.events?.map(({ message }) => message)).toEqual(["three"]);
    await expect(client.send(new GetLogEventsCommand({ ...at, logStreamName: "no" }))).rejects.toThrow(
      "does not exist",
    );
  });

  it("keep lines that are put", async () => {
    const { aws } = await world();
    const client = clientOf(aws, CloudWatchLogsClient);
    const at = { logGroupName: "/g", logStreamName: "s" };
    await client.send(new CreateLogGroupCommand({ logGroupName: "/g" }));
    await client.send(new CreateLogStreamCommand(at));
    await client.send(new PutLogEventsCommand({ ...at, logEvents: [{ timestamp: 5, message: "hello" }] }));
    const { events } = await client.send(new GetLogEventsCommand({ ...at, startFromHead: true }));
    expect(events).toEqual([{ timestamp: 5, message: "hello", ingestionTime: aws.clock.now() }]);
  });

  it("call functions, tell what they throw, and try events three times", async () => {
    const seen: unknown[] = [];
    const { aws } = await world({
      functions: {
        double: (event) => ({ twice: (event as { n: number }).n * 2 }),
        broken: (event, { invocationType }) => {
          seen.push([event, invocationType]);
          throw new TypeError("no");
        },
      },
    });
    const client = clientOf(aws, LambdaClient);
    const answered = await client.send(new InvokeCommand({ FunctionName: "double", Payload: '{"n":21}' }));
    expect(answered.Payload?.transformToString()).toBe('{"twice":42}');
    expect(answered).toMatchObject({ StatusCode: 200, ExecutedVersion: "$LATEST" });
    const failed = await client.send(new InvokeCommand({ FunctionName: "broken", Qualifier: "live" }));
    expect(failed.FunctionError).toBe("Unhandled");
    expect(JSON.parse(failed.Payload?.transformToString() ?? "")).toMatchObject({
      errorType: "TypeError",
      errorMessage: "no",
    });
    const event = new InvokeCommand({ FunctionName: "broken", InvocationType: "Event", Payload: '"later"' });
    expect((await client.send(event)).StatusCode).toBe(202);
    expect(seen).toHaveLength(1);
    await aws.clock.advance(600_000);
    expect(seen.slice(1)).toEqual(Array(3).fill(["later", "Event"]));
    await expect(client.send(new InvokeCommand({ FunctionName: "other" }))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  it("give containers their secrets, and do not start them without", async () => {
    const secrets = [
      { name: "TOKEN", valueFrom: "arn:aws:ssm:us-east-1:123456789012:parameter/spotter/token" },
    ];
    const { aws, ecs } = await world({
      taskDefinitions: [{ family: "plain", containerDefinitions: [{ ...plainContainer, secrets }] }],
    });
    const run = new RunTaskCommand({ cluster: "main", taskDefinition: "plain" });
    await ecs.send(run);
    await aws.clock.advance(20_000);
    expect(aws.containers.all).toEqual([]);
    expect(aws.events.published.at(-1)?.detail).toMatchObject({
      stopCode: "TaskFailedToStart",
      stoppedReason: expect.stringContaining(
        "ResourceInitializationError: unable to pull secrets",
      ) as unknown,
    });
    const ssm = clientOf(aws, SSMClient);
    await ssm.send(new PutParameterCommand({ Name: "/spotter/token", Value: "hush", Type: "SecureString" }));
    await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain" }));
    await aws.clock.advance(20_000);
    expect(aws.containers.all[0]?.run.environment).toEqual({ TOKEN: "hush" });
  });
});
