import {
  DescribeTasksCommand,
  ListTasksCommand,
  RegisterTaskDefinitionCommand,
  RunTaskCommand,
  StopTaskCommand,
  type ECSClient,
  type RegisterTaskDefinitionCommandInput,
  type RunTaskCommandInput,
  type Task,
} from "@aws-sdk/client-ecs";
import { describe, expect, it } from "vitest";
import { plainContainer, world } from "./world.ts";

const fargate = { cluster: "main", taskDefinition: "plain" };
const onGpu = {
  cluster: "main",
  taskDefinition: "serve",
  capacityProviderStrategy: [{ capacityProvider: "gpu", weight: 1 }],
};

async function run(ecs: ECSClient, input: RunTaskCommandInput): Promise<string> {
  const { tasks } = await ecs.send(new RunTaskCommand(input));
  return tasks?.[0]?.taskArn ?? "";
}

async function shown(ecs: ECSClient, taskArn: string): Promise<Task> {
  const { tasks } = await ecs.send(new DescribeTasksCommand({ cluster: "main", tasks: [taskArn] }));
  return tasks?.[0] ?? {};
}

const listed = async (ecs: ECSClient, filter: object = {}): Promise<string[]> =>
  (await ecs.send(new ListTasksCommand({ cluster: "main", ...filter }))).taskArns ?? [];

describe("the life of a task", () => {
  it("goes from PROVISIONING to RUNNING and, stopped, to STOPPED with the times and reasons of each step", async () => {
    const { aws, ecs } = await world();
    const taskArn = await run(ecs, {
      ...fargate,
      overrides: {
        containerOverrides: [
          { name: "engine", command: ["serve"], environment: [{ name: "B", value: "2" }] },
        ],
      },
    });
    expect((await shown(ecs, taskArn)).lastStatus).toBe("PROVISIONING");
    await aws.clock.advance(3_000);
    expect((await shown(ecs, taskArn)).lastStatus).toBe("PENDING");
    await aws.clock.advance(10_000);
    const running = await shown(ecs, taskArn);
    expect(running.lastStatus).toBe("RUNNING");
    expect(running.startedAt?.getTime()).toBe(Date.UTC(2026, 10, 29) + 12_000);
    const [container] = aws.containers.of(taskArn);
    expect(container?.run).toMatchObject({ command: ["serve"], environment: { B: "2" }, memoryMiB: 512 });

    await ecs.send(new StopTaskCommand({ cluster: "main", task: taskArn, reason: "scale in" }));
    await aws.clock.advance(0);
    expect((await shown(ecs, taskArn)).lastStatus).toBe("DEPROVISIONING");
    await aws.clock.advance(3_000);
    expect(await shown(ecs, taskArn)).toMatchObject({
      lastStatus: "STOPPED",
      stopCode: "UserInitiated",
      stoppedReason: "scale in",
      containers: [{ exitCode: 143, lastStatus: "STOPPED" }],
    });
    expect(await listed(ecs)).toEqual([]);
    expect(await listed(ecs, { desiredStatus: "STOPPED" })).toEqual([taskArn]);
    await aws.clock.advance(3_600_000);
    const { failures } = await ecs.send(new DescribeTasksCommand({ cluster: "main", tasks: [taskArn] }));
    expect(failures).toEqual([{ arn: taskArn, reason: "MISSING" }]);
  });

  it("kills a container that ignores SIGTERM for longer than its stopTimeout", async () => {
    const { aws, ecs } = await world({
      startContainer() {
        const { promise, resolve } = Promise.withResolvers<{ exitCode: null; signal: string }>();
        return {
          exited: promise,
          stop: (signal) => void (signal === "SIGKILL" && resolve({ exitCode: null, signal })),
        };
      },
    });
    const taskArn = await run(ecs, onGpu);
    await aws.clock.advance(120_000);
    await ecs.send(new StopTaskCommand({ cluster: "main", task: taskArn }));
    await aws.clock.advance(19_000);
    expect(aws.containers.of(taskArn)[0]?.signals).toEqual(["SIGTERM"]);
    await aws.clock.advance(10_000);
    expect(aws.containers.of(taskArn)[0]?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect((await shown(ecs, taskArn)).containers?.[0]?.exitCode).toBe(137);
  });

  it("waits in PROVISIONING until an instance has joined, and gives the instance back", async () => {
    const { aws, ecs } = await world();
    const taskArn = await run(ecs, onGpu);
    await aws.clock.advance(80_000);
    expect((await shown(ecs, taskArn)).lastStatus).toBe("PROVISIONING");
    expect(aws.pools.get("gpu")?.alive).toHaveLength(1);
    await aws.clock.advance(25_000);
    expect((await shown(ecs, taskArn)).lastStatus).toBe("RUNNING");
    await ecs.send(new StopTaskCommand({ cluster: "main", task: taskArn }));
    await aws.clock.advance(10_000);
    expect(aws.pools.get("gpu")?.alive).toHaveLength(1);
    await aws.clock.advance(900_000);
    expect(aws.pools.get("gpu")?.alive).toHaveLength(0);
  });

  it("never grows beyond the largest size", async () => {
    const { aws, ecs } = await world();
    await ecs.send(new RunTaskCommand({ ...onGpu, count: 3 }));
    await aws.clock.advance(200_000);
    expect(aws.pools.get("gpu")?.alive).toHaveLength(2);
    expect(aws.containers.all).toHaveLength(2);
  });

  it("stops a task that is still PROVISIONING without starting anything", async () => {
    const { aws, ecs } = await world();
    const taskArn = await run(ecs, fargate);
    await ecs.send(new StopTaskCommand({ cluster: "main", task: taskArn }));
    await aws.clock.advance(60_000);
    expect((await shown(ecs, taskArn)).lastStatus).toBe("STOPPED");
    expect(aws.containers.all).toEqual([]);
  });
});

describe("the rules of RunTask and ListTasks", () => {
  it("answers the same client token with the same task for a day", async () => {
    const { aws, ecs } = await world();
    const first = await run(ecs, { ...fargate, clientToken: "same" });
    expect(await run(ecs, { ...fargate, clientToken: "same" })).toBe(first);
    await expect(run(ecs, { ...fargate, clientToken: "same", count: 2 })).rejects.toThrow("client token");
    await aws.clock.advance(25 * 3_600_000);
    expect(await run(ecs, { ...fargate, clientToken: "same" })).not.toBe(first);
  });

  it.each([
    [{ count: 11 }, "count must be between 1 and 10"],
    [{ startedBy: "x".repeat(129) }, "startedBy"],
    [{ clientToken: "x".repeat(65) }, "clientToken"],
    [{ tags: Array.from({ length: 51 }, (_, index) => ({ key: `k${index}`, value: "" })) }, "50 tags"],
    [{ overrides: { containerOverrides: [{ name: "other" }] } }, "other is not a container"],
    [{ launchType: "EC2" as const }, "No Container Instances"],
    [{ cluster: "other" }, "Cluster not found"],
    [{ taskDefinition: "other" }, "Unable to describe task definition"],
  ])("refuses %o", async (part, message) => {
    const { ecs } = await world();
    await expect(ecs.send(new RunTaskCommand({ ...fargate, ...part }))).rejects.toThrow(message);
  });

  it.each([
    [{ networkMode: "bridge" as const }, "only supports network mode 'awsvpc'"],
    [{ memory: undefined }, "'cpu' and 'memory' be defined"],
    [{ cpu: "1024", memory: "1024" }, "No Fargate configuration"],
    [
      { containerDefinitions: [{ ...plainContainer, secrets: [{ name: "A", valueFrom: "/a" }] }] },
      "execution role",
    ],
  ])("refuses a definition for Fargate with %o", async (part, message) => {
    const { ecs } = await world();
    const good: RegisterTaskDefinitionCommandInput = {
      family: "fargate",
      requiresCompatibilities: ["FARGATE"],
      networkMode: "awsvpc",
      cpu: "256",
      memory: "512",
      containerDefinitions: [plainContainer],
    };
    await ecs.send(new RegisterTaskDefinitionCommand(good));
    await expect(ecs.send(new RegisterTaskDefinitionCommand({ ...good, ...part }))).rejects.toThrow(message);
  });

  it("lists by startedBy and by family, a hundred a page", async () => {
    const { ecs } = await world();
    for (let each = 0; each < 11; each++) {
      await ecs.send(new RunTaskCommand({ ...fargate, count: 10, startedBy: each === 0 ? "one" : "other" }));
    }
    expect(await listed(ecs, { startedBy: "one" })).toHaveLength(10);
    expect(await listed(ecs, { family: "serve" })).toHaveLength(0);
    const first = await ecs.send(new ListTasksCommand({ cluster: "main" }));
    expect(first.taskArns).toHaveLength(100);
    const rest = await ecs.send(new ListTasksCommand({ cluster: "main", nextToken: first.nextToken }));
    expect(rest.taskArns).toHaveLength(10);
    expect(rest.nextToken).toBeUndefined();
    await expect(listed(ecs, { startedBy: "one", family: "serve" })).rejects.toThrow("only filter");
  });
});
