import { spawn } from "node:child_process";
import { once } from "node:events";
import { DescribeTasksCommand, RunTaskCommand, StopTaskCommand } from "@aws-sdk/client-ecs";
import { expect, it } from "vitest";
import type { StartContainer } from "../../../fakes/aws/index.ts";
import { alive } from "./alive.ts";
import { world } from "./world.ts";

/** Ends with 7 when it is asked to, and says when it is ready to be. */
const program =
  "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log(process.env.A)";

const started: StartContainer = async (_definition, run) => {
  const child = spawn(process.execPath, ["-e", program], {
    env: run.environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit").then(([exitCode, signal]) => ({
    exitCode: exitCode as number | null,
    signal: signal as string | null,
  }));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  run.log(line.toString().trim());
  return { pid: child.pid, exited, stop: (signal) => void child.kill(signal), ports: { 8000: 41234 } };
};

const input = {
  cluster: "main",
  taskDefinition: "ported",
  overrides: { containerOverrides: [{ name: "engine", environment: [{ name: "A", value: "hello" }] }] },
};
const taskDefinitions = [
  {
    family: "ported",
    containerDefinitions: [
      {
        name: "engine",
        image: "engine:1",
        memory: 512,
        portMappings: [{ containerPort: 8000 }],
        logConfiguration: { logDriver: "awslogs" as const, options: { "awslogs-group": "/g" } },
      },
    ],
  },
];

it("runs a real process as the container, at the pace of real time, and ends it when asked", async () => {
  const { aws, ecs } = await world({ auto: true, startContainer: started, taskDefinitions });
  const { tasks } = await ecs.send(new RunTaskCommand(input));
  const taskArn = tasks?.[0]?.taskArn ?? "";
  const shown = async () =>
    (await ecs.send(new DescribeTasksCommand({ cluster: "main", tasks: [taskArn] }))).tasks?.[0];
  await aws.clock.until(async () => (await shown())?.lastStatus === "RUNNING");
  expect((await shown())?.containers?.[0]?.networkBindings).toMatchObject([
    { containerPort: 8000, hostPort: 41234 },
  ]);
  expect([...(aws.logs.groups.get("/g")?.values() ?? [])].flat()).toMatchObject([{ message: "hello" }]);
  const pid = aws.containers.all[0]?.pid ?? 0;
  expect(alive(pid)).toBe(true);
  await ecs.send(new StopTaskCommand({ cluster: "main", task: taskArn }));
  await aws.clock.until(async () => (await shown())?.lastStatus === "STOPPED");
  expect((await shown())?.containers?.[0]?.exitCode).toBe(7);
  expect(alive(pid)).toBe(false);
});

it("leaves no process behind", async () => {
  const { aws, ecs } = await world({ auto: true, startContainer: started, taskDefinitions });
  await ecs.send(new RunTaskCommand(input));
  await aws.clock.until(() => aws.containers.all.length === 1);
  const pid = aws.containers.all[0]?.pid ?? 0;
  await aws.close();
  expect(alive(pid)).toBe(false);
});

it("says why a container did not start", async () => {
  const { aws, ecs } = await world({
    startContainer: () => {
      throw new Error("no such program");
    },
    taskDefinitions,
  });
  await ecs.send(new RunTaskCommand(input));
  await aws.clock.advance(30_000);
  expect(aws.events.published.at(-1)?.detail).toMatchObject({
    lastStatus: "STOPPED",
    stopCode: "TaskFailedToStart",
    stoppedReason: "CannotStartContainerError: no such program",
  });
});
