/** How a resource costs: by the hour, by what it keeps, by its use, or nothing at all. */
export type Billing = "hours" | "storage" | "use" | "nothing" | "unknown";

const BILLING: Readonly<Record<string, Billing>> = {
  "ec2:instance": "hours",
  "ec2:natgateway": "hours",
  "ec2:elastic-ip": "hours",
  "ec2:volume": "storage",
  "ec2:snapshot": "storage",
  "ec2:vpc": "nothing",
  "ec2:subnet": "nothing",
  "ec2:route-table": "nothing",
  "ec2:internet-gateway": "nothing",
  "ec2:egress-only-internet-gateway": "nothing",
  // Of the stack's kind, to S3 and DynamoDB; others cost by the hour, and EC2 tells which one is what.
  "ec2:vpc-endpoint": "nothing",
  "ec2:security-group": "nothing",
  "ec2:security-group-rule": "nothing",
  "ec2:network-interface": "nothing",
  "ec2:launch-template": "nothing",
  "ec2:placement-group": "nothing",
  "ecs:task": "hours",
  // The container of the gateway; its task is found as well, while it runs.
  "ecs:service": "hours",
  "ecs:cluster": "nothing",
  "ecs:task-definition": "nothing",
  "ecs:capacity-provider": "nothing",
  "ecs:container-instance": "nothing",
  "batch:job": "hours",
  "batch:job-definition": "nothing",
  "batch:job-queue": "nothing",
  "batch:compute-environment": "nothing",
  "autoscaling:autoScalingGroup": "nothing",
  "elasticloadbalancing:loadbalancer": "hours",
  "elasticloadbalancing:targetgroup": "nothing",
  "elasticloadbalancing:listener": "nothing",
  "elasticloadbalancing:listener-rule": "nothing",
  "cloudfront:distribution": "use",
  "cloudfront:function": "nothing",
  "lambda:function": "use",
  "s3:bucket": "storage",
  "dynamodb:table": "storage",
  "logs:log-group": "storage",
  "cloudwatch:alarm": "hours",
  "events:rule": "nothing",
  "scheduler:schedule": "nothing",
  "scheduler:schedule-group": "nothing",
  "sns:topic": "use",
  "sqs:queue": "use",
  "ssm:parameter": "nothing",
  "acm:certificate": "nothing",
  "budgets:budget": "nothing",
  "kms:key": "hours",
  "iam:role": "nothing",
  "iam:policy": "nothing",
  "iam:instance-profile": "nothing",
};

/**
 * The kind of a resource, as AWS names it in the tagging API: service and type.
 *
 * @example
 * kindOf("arn:aws:ecs:eu-central-1:1:task/dev/0a1b"); // "ecs:task"
 */
export function kindOf(arn: string): string {
  const [, , service = "", , , ...rest] = arn.split(":");
  if (service === "s3") return "s3:bucket";
  if (service === "sns") return "sns:topic";
  if (service === "sqs") return "sqs:queue";
  const type = rest.join(":").split(/[:/]/)[0] ?? "";
  return `${service}:${type}`;
}

/** The last part of its name. */
export function nameOf(arn: string): string {
  const parts = arn.split(":").slice(5).join(":");
  return parts.replace(/^[^:/]*[:/]/, "") || parts;
}

/** What this program makes is known; anything else is taken for something that costs. */
export function billingOf(kind: string): Billing {
  return BILLING[kind] ?? "unknown";
}
