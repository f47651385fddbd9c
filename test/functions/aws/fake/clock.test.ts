import { DescribeTasksCommand, ECSClient, RunTaskCommand, StopTaskCommand } from "@aws-sdk/client-ecs";
import { expect, it } from "vitest";
import { virtualClock } from "../../../fakes/aws/clock.ts";
import { world } from "./world.ts";

it("calls back in order, at the time that was asked for", async () => {
  const clock = virtualClock(0, { inFlight: 0, served: 0 });
  const seen: [string, number][] = [];
  const note = (name: string) => () => void seen.push([name, clock.now()]);
  clock.after(20, note("late"));
  clock.after(10, () => {
    note("early")();
    clock.after(5, note("between"));
  });
  clock.after(10, note("second"));
  clock.after(10, note("cancelled"))();
  await clock.advance(19);
  expect(seen).toEqual([
    ["early", 10],
    ["second", 10],
    ["between", 15],
  ]);
  await clock.advance(1);
  expect(seen.at(-1)).toEqual(["late", 20]);
  await expect(clock.until(() => false, 100)).rejects.toThrow("not reached within 100 ms");
});

it("stands still until the requests that an event sets off are answered", async () => {
  const states: (string | undefined)[] = [];
  const { aws, ecs } = await world({
    async onEvent({ detail }) {
      if (detail.lastStatus !== "RUNNING" || detail.desiredStatus === "STOPPED") return;
      const task = String(detail.taskArn);
      const client = new ECSClient(aws.clientConfig);
      await client.send(new StopTaskCommand({ cluster: "main", task }));
      const { tasks } = await client.send(new DescribeTasksCommand({ cluster: "main", tasks: [task] }));
      states.push(tasks?.[0]?.lastStatus);
      client.destroy();
    },
  });
  await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain" }));
  await aws.clock.advance(3_600_000);
  // Time that ran ahead of the answers would have found it STOPPED.
  expect(states).toEqual(["DEPROVISIONING"]);
});
