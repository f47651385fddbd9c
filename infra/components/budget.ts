import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";

/** When somebody is told, in percent of the budget. */
const TOLD_AT = [
  { notificationType: "ACTUAL", threshold: 80 },
  { notificationType: "ACTUAL", threshold: 100 },
  // While there is time to do something.
  { notificationType: "FORECASTED", threshold: 100 },
] as const;

/**
 * A budget of a month. It is there always and costs nothing; it tells, it does not stop anything:
 * what runs is stopped by the limits of runs, and by hosts that end themselves.
 *
 * It is of the whole account, which is never less than the stack: AWS counts by a tag only once somebody has activated
 * it for billing by hand.
 */
export class Budget extends pulumi.ComponentResource {
  /** Where the budget and alarms say what they have to say. */
  readonly topicArn: pulumi.Output<string>;

  constructor(name: string, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:Budget", name, {}, options);
    const { budget, tags } = config;
    const parent = { parent: this };
    const topic = new aws.sns.Topic(name, { tags }, parent);
    const account = aws.getCallerIdentityOutput({}, parent).accountId;
    const policy = new aws.sns.TopicPolicy(
      name,
      { arn: topic.arn, policy: pulumi.all([topic.arn, account]).apply(publishing) },
      parent,
    );
    if (budget.email !== null)
      new aws.sns.TopicSubscription(
        name,
        { topic: topic.arn, protocol: "email", endpoint: budget.email },
        parent,
      );
    new aws.budgets.Budget(
      name,
      {
        budgetType: "COST",
        timeUnit: "MONTHLY",
        limitAmount: String(budget.monthlyUsd),
        limitUnit: "USD",
        notifications: TOLD_AT.map((each) => ({
          ...each,
          thresholdType: "PERCENTAGE",
          comparisonOperator: "GREATER_THAN",
          subscriberSnsTopicArns: [topic.arn],
        })),
        tags,
      },
      // AWS asks the topic whether it may publish.
      { ...parent, dependsOn: policy },
    );
    this.topicArn = topic.arn;
    this.registerOutputs({ topicArn: this.topicArn });
  }
}

function publishing([topicArn, account]: [string, string]): string {
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "BudgetsAndAlarms",
        Effect: "Allow",
        Principal: { Service: ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"] },
        Action: "sns:Publish",
        Resource: topicArn,
        // Of this account: a service acts for others, too.
        Condition: { StringEquals: { "aws:SourceAccount": account } },
      },
    ],
  } satisfies aws.iam.PolicyDocument);
}
