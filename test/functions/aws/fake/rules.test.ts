import { RunTaskCommand } from "@aws-sdk/client-ecs";
import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from "@aws-sdk/client-eventbridge";
import { describe, expect, it, onTestFinished } from "vitest";
import { matchesPattern } from "../../../fakes/aws/event-pattern.ts";
import { world } from "./world.ts";

const target = { Id: "1", Arn: "arn:aws:lambda:us-east-1:123456789012:function:reconciler" };

async function rules() {
  const heard: Record<string, unknown>[] = [];
  const made = await world({
    functions: { reconciler: (event) => void heard.push(event as Record<string, unknown>) },
  });
  const bridge = new EventBridgeClient({ ...made.aws.clientConfig, maxAttempts: 1 });
  onTestFinished(() => bridge.destroy());
  return { ...made, bridge, heard };
}

describe("rules of the event bus", () => {
  it("call a function with the events that match, and with no others", async () => {
    const { aws, ecs, bridge, heard } = await rules();
    const EventPattern = JSON.stringify({
      source: ["aws.ecs"],
      "detail-type": ["ECS Task State Change"],
      detail: { lastStatus: ["RUNNING", "STOPPED"], startedBy: [{ prefix: "serve-" }] },
    });
    await bridge.send(new PutRuleCommand({ Name: "tasks", EventPattern }));
    await bridge.send(new PutTargetsCommand({ Rule: "tasks", Targets: [target] }));
    for (const startedBy of ["serve-1", "other"]) {
      await ecs.send(new RunTaskCommand({ cluster: "main", taskDefinition: "plain", startedBy }));
    }
    await aws.clock.advance(20_000);
    expect(heard).toMatchObject([{ detail: { lastStatus: "RUNNING", startedBy: "serve-1" } }]);
  });

  it("call a function at a rate, with the target's own input", async () => {
    const { aws, bridge, heard } = await rules();
    await bridge.send(new PutRuleCommand({ Name: "tick", ScheduleExpression: "rate(1 minute)" }));
    await bridge.send(
      new PutTargetsCommand({ Rule: "tick", Targets: [{ ...target, Input: '{"tick":true}' }] }),
    );
    await aws.clock.advance(180_000);
    expect(heard).toEqual(Array(3).fill({ tick: true }));
    await bridge.send(
      new PutRuleCommand({ Name: "tick", ScheduleExpression: "rate(1 minute)", State: "DISABLED" }),
    );
    await aws.clock.advance(180_000);
    expect(heard).toHaveLength(3);
  });

  it.each([
    [{ EventPattern: "not json" }, "JSON"],
    [{ EventPattern: '{"source":"aws.ecs"}' }, "a field is a list or an object"],
    [{ ScheduleExpression: "every minute" }, "ScheduleExpression is not valid"],
    [{}, "must be specified"],
  ])("refuse %o", async (part, message) => {
    const { bridge } = await rules();
    await expect(bridge.send(new PutRuleCommand({ Name: "wrong", ...part }))).rejects.toThrow(message);
  });

  it.each([
    [{ detail: { code: [1, null] } }, true],
    [{ detail: { code: [2] } }, false],
    [{ detail: { missing: [{ exists: false }] } }, true],
    [{ detail: { code: [{ exists: false }] } }, false],
    [{ resources: [{ suffix: "/b" }] }, true],
    [{ source: [{ "anything-but": ["aws.ecs"] }] }, false],
    [{ source: [{ "anything-but": "aws.batch" }] }, true],
  ])("match %o: %s", (pattern, matches) => {
    const event = { source: "aws.ecs", resources: ["x/a", "x/b"], detail: { code: 1 } };
    expect(matchesPattern(pattern, event)).toBe(matches);
  });
});
