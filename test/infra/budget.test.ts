import { expect, it } from "vitest";
import { recordComponents } from "./record-components.ts";

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Budget } = await import("../../infra/components/budget.ts");
    return { topicArn: new Budget("budget", config).topicArn };
  });

const BUDGET = "aws:budgets/budget:Budget";
const SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription";

it("is always there, tells early, and is as large as the stack says", async () => {
  const { only, outputs, config } = await record({ monthlyBudgetUsd: "250" });
  const { inputs } = only(BUDGET);
  expect(inputs).toMatchObject({
    budgetType: "COST",
    timeUnit: "MONTHLY",
    limitAmount: "250",
    limitUnit: "USD",
    tags: config.tags,
  });
  const told = (inputs["notifications"] as Record<string, unknown>[]).map(
    ({ notificationType, threshold, subscriberSnsTopicArns }) => [
      notificationType,
      threshold,
      subscriberSnsTopicArns,
    ],
  );
  expect(told).toEqual([
    ["ACTUAL", 80, [outputs["topicArn"]]],
    ["ACTUAL", 100, [outputs["topicArn"]]],
    ["FORECASTED", 100, [outputs["topicArn"]]],
  ]);
}, 30_000);

it("mails whoever the stack names, and nobody else", async () => {
  const mailed = await record({ budgetEmail: "me@example.com" });
  expect(mailed.only(SUBSCRIPTION).inputs).toMatchObject({
    topic: mailed.outputs["topicArn"],
    protocol: "email",
    endpoint: "me@example.com",
  });
  expect((await record()).all(SUBSCRIPTION)).toEqual([]);
});

it("lets budgets and alarms of this account speak, before the budget is made", async () => {
  const { only, outputs } = await record();
  const { Statement } = JSON.parse(String(only("aws:sns/topicPolicy:TopicPolicy").inputs["policy"])) as {
    Statement: unknown[];
  };
  expect(Statement).toEqual([
    {
      Sid: "BudgetsAndAlarms",
      Effect: "Allow",
      Principal: { Service: ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"] },
      Action: "sns:Publish",
      Resource: outputs["topicArn"],
      Condition: { StringEquals: { "aws:SourceAccount": "123456789012" } },
    },
  ]);
  expect(only(BUDGET).dependencies.join()).toContain("TopicPolicy::budget");
});
