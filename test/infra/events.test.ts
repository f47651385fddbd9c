import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { readEvent } from "../../functions/aws/aws-containers/events.ts";
import type { LambdaFunction } from "../../infra/components/lambda-function.ts";
import { recordComponents, type Components } from "./record-components.ts";

const CLUSTER = "arn:aws:ecs:eu-central-1:123456789012:cluster/spotter-test";
const QUEUES = ["arn:aws:batch:eu-central-1:123456789012:job-queue/work"];

const fake = (name: string) =>
  ({
    arn: pulumi.output(`arn:aws:lambda:eu-central-1:123456789012:function:spotter-test-${name}`),
    functionName: pulumi.output(`spotter-test-${name}`),
  }) as unknown as LambdaFunction;

const record = (withScaler: boolean) =>
  recordComponents({}, async (config) => {
    const { Events } = await import("../../infra/components/events.ts");
    new Events(
      "events",
      {
        reconciler: fake("reconciler"),
        ...(withScaler && { scaler: fake("scaler") }),
        clusterArn: CLUSTER,
        jobQueueArns: QUEUES,
      },
      config,
    );
    return {};
  });

const RULE = "aws:cloudwatch/eventRule:EventRule";
let events: Components;
let scaled: Components;
beforeAll(async () => {
  events = await record(false);
  scaled = await record(true);
}, 60_000);

interface Pattern {
  source: string[];
  "detail-type": string[];
  detail?: object;
}

function patternsOf(recorded: Components): Pattern[] {
  const texts = recorded.all(RULE).map(({ inputs }) => inputs["eventPattern"]);
  return texts.filter((text) => typeof text === "string").map((text) => JSON.parse(text) as Pattern);
}

describe("the reconciler", () => {
  it("is called by changes of this stack's own tasks and jobs", () => {
    const patterns = patternsOf(events);
    expect(patterns).toEqual([
      { source: ["aws.ecs"], "detail-type": ["ECS Task State Change"], detail: { clusterArn: [CLUSTER] } },
      { source: ["aws.batch"], "detail-type": ["Batch Job State Change"], detail: { jobQueue: QUEUES } },
      {
        source: ["aws.ec2"],
        "detail-type": ["EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"],
      },
    ]);
  });

  it("understands each kind of event that tells of something of its own", () => {
    const details: Record<string, object> = {
      "ECS Task State Change": { taskArn: "arn:aws:ecs:r:1:task/c/1", version: 1, lastStatus: "RUNNING" },
      "Batch Job State Change": { jobId: "1", status: "RUNNING" },
      "EC2 Spot Instance Interruption Warning": { "instance-id": "i-0123456789abcdef0" },
    };
    const types = patternsOf(events).flatMap((pattern) => pattern["detail-type"]);
    for (const [type, detail] of Object.entries(details)) {
      expect(types).toContain(type);
      expect(readEvent({ "detail-type": type, detail }), type).toBeDefined();
    }
  });

  it("is called each minute", () => {
    expect(events.only(RULE, "reconcile").inputs["scheduleExpression"]).toBe("rate(1 minute)");
  });

  it("may be called by these rules and by no other", () => {
    const permissions = events.all("aws:lambda/permission:Permission").map(({ inputs }) => inputs);
    const rules = events.all(RULE).map(({ name }) => name);
    expect(permissions).toEqual(
      rules.map((name) => ({
        function: "spotter-test-reconciler",
        action: "lambda:InvokeFunction",
        principal: "events.amazonaws.com",
        sourceArn: `arn:aws:events:eu-central-1:123456789012:rule/${name}-1a2b3c4`,
      })),
    );
    const targets = events.all("aws:cloudwatch/eventTarget:EventTarget");
    expect(targets.map(({ inputs }) => inputs["rule"])).toEqual(rules.map((name) => `${name}-1a2b3c4`));
    // A target that may not be called yet drops what comes.
    for (const { dependencies } of targets)
      expect(dependencies.some((urn) => urn.includes("permission:Permission"))).toBe(true);
  });

  it("forgets events that the schedule has overtaken", () => {
    const type = "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig";
    expect(events.only(type).inputs).toMatchObject({
      maximumEventAgeInSeconds: 300,
      maximumRetryAttempts: 2,
    });
  });
});

it("calls the scaler each minute where there is one, and repeats no call that failed", () => {
  expect(events.all(RULE).map(({ name }) => name)).not.toContain("scale");
  expect(scaled.only(RULE, "scale").inputs["scheduleExpression"]).toBe("rate(1 minute)");
  const target = scaled.only("aws:cloudwatch/eventTarget:EventTarget", "scale");
  expect(target.inputs["arn"]).toContain("spotter-test-scaler");
  const type = "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig";
  expect(scaled.only(type, "scaler").inputs["maximumRetryAttempts"]).toBe(0);
});
