import { RunTaskCommand } from "@aws-sdk/client-ecs";
import { describe, expect, it } from "vitest";
import type { AwsEvent } from "../../../fakes/aws/index.ts";
import { world } from "./world.ts";

describe("events", () => {
  const statuses = async (faults: object): Promise<unknown[]> => {
    const events: AwsEvent[] = [];
    const { aws, ecs } = await world({ onEvent: (event) => void events.push(event) });
    aws.control.events(faults);
    const { tasks } = await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain" }));
    await aws.clock.advance(20_000);
    aws.control.exit(tasks?.[0]?.taskArn ?? "", 0);
    await aws.clock.advance(200_000);
    return events.map(({ detail }) => detail.lastStatus);
  };
  const usual = ["PROVISIONING", "PENDING", "RUNNING", "RUNNING", "DEPROVISIONING", "STOPPED"];

  it("arrive once and in order when nothing is wrong", async () => {
    expect(await statuses({})).toEqual(usual);
  });

  it("are lost, doubled and overtaken on command, the same in every run", async () => {
    expect(await statuses({ lose: 1 })).toEqual([]);
    expect(await statuses({ duplicate: 1 })).toHaveLength(2 * usual.length);
    const reordered = await statuses({ reorder: 0.7, seed: 3 });
    expect(reordered).not.toEqual(usual);
    expect([...reordered].sort()).toEqual([...usual].sort());
    expect(await statuses({ reorder: 0.7, seed: 3 })).toEqual(reordered);
  });
});
