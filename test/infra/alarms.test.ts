import * as pulumi from "@pulumi/pulumi";
import { beforeAll, expect, it } from "vitest";
import { functionsFor } from "../../infra/components/functions-table.ts";
import { recordComponents, type Components } from "./record-components.ts";

const ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm";

const TOPIC = "arn:aws:sns:eu-central-1:123456789012:budget-1a2b3c4";

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Alarms } = await import("../../infra/components/alarms.ts");
    new Alarms(
      "alarms",
      {
        topicArn: TOPIC,
        functions: functionsFor(config.gateway).map(([name]) => [
          name,
          { functionName: pulumi.output(`spotter-test-${name}`) },
        ]),
        ...(config.gateway === "fargate" && {
          balancer: {
            arnSuffix: pulumi.output("app/gateway/1"),
            targetGroupArnSuffix: pulumi.output("targetgroup/gateway/1"),
          },
        }),
      },
      config,
    );
    return {};
  });

let alarms: Components;
beforeAll(async () => {
  alarms = await record();
}, 60_000);

it("tells when a function fails, for each of them", () => {
  for (const [name] of functionsFor("fargate")) {
    expect(alarms.only(ALARM, `${name}-errors`).inputs, name).toMatchObject({
      namespace: "AWS/Lambda",
      metricName: "Errors",
      dimensions: { FunctionName: `spotter-test-${name}` },
      statistic: "Sum",
      threshold: 5,
      treatMissingData: "notBreaching",
    });
  }
});

it("tells when functions are refused", () => {
  expect(alarms.only(ALARM, "throttles").inputs).toMatchObject({
    metricName: "Throttles",
    threshold: 1,
    comparisonOperator: "GreaterThanOrEqualToThreshold",
  });
});

it("tells when nobody calls the reconciler, also if there is no word of it at all", () => {
  expect(alarms.only(ALARM, "reconciler-silence").inputs).toMatchObject({
    metricName: "Invocations",
    dimensions: { FunctionName: "spotter-test-reconciler" },
    comparisonOperator: "LessThanThreshold",
    threshold: 1,
    period: 300,
    treatMissingData: "breaching",
  });
});

it("tells when no gateway is well, where there is one", async () => {
  expect(alarms.only(ALARM, "gateway-unhealthy").inputs).toMatchObject({
    metricName: "HealthyHostCount",
    dimensions: { LoadBalancer: "app/gateway/1", TargetGroup: "targetgroup/gateway/1" },
    threshold: 1,
    evaluationPeriods: 3,
    treatMissingData: "breaching",
  });
  const small = await record({ gateway: "lambda" });
  expect(small.all(ALARM).map(({ name }) => name)).not.toContain("gateway-unhealthy");
  expect(small.all(ALARM).map(({ name }) => name)).toContain("chat-errors");
});

it("tells them where the budget is told, also when all is well again", () => {
  for (const { name, inputs } of alarms.all(ALARM))
    expect([name, inputs["alarmActions"], inputs["okActions"]]).toEqual([name, [TOPIC], [TOPIC]]);
});
