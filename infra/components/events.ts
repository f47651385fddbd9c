import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import type { LambdaFunction } from "./lambda-function.ts";

export interface EventsArgs {
  reconciler: LambdaFunction;
  /** Undefined where the gateway scales. */
  scaler?: LambdaFunction;
  /** Of replicas. */
  clusterArn: pulumi.Input<string>;
  /** Of runs and evals. */
  jobQueueArns: pulumi.Input<pulumi.Input<string>[]>;
}

const EVERY_MINUTE = "rate(1 minute)";
/** What is older was seen by the schedule meanwhile. */
const MAX_EVENT_AGE_S = 300;

/**
 * Calls the reconciler when something changes, and each minute, as events may be lost; and the scaler each minute
 * where no gateway lives long enough to scale.
 */
export class Events extends pulumi.ComponentResource {
  constructor(
    name: string,
    args: EventsArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:Events", name, {}, options);
    const { reconciler, scaler, clusterArn, jobQueueArns } = args;
    const rule = (short: string, ruleArgs: aws.cloudwatch.EventRuleArgs, target = reconciler) =>
      this.#rule(short, { ...ruleArgs, tags: config.tags }, target);
    rule("tasks", {
      description: "A replica's task has changed",
      eventPattern: pattern("aws.ecs", ["ECS Task State Change"], { clusterArn: [clusterArn] }),
    });
    rule("jobs", {
      description: "A run's or an eval's job has changed",
      eventPattern: pattern("aws.batch", ["Batch Job State Change"], { jobQueue: jobQueueArns }),
    });
    rule("spot", {
      // They say which instance, and nothing of whose it is: the reconciler knows its own.
      description: "A spot instance of the region is about to go",
      eventPattern: pattern("aws.ec2", [
        "EC2 Spot Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation",
      ]),
    });
    rule("reconcile", { description: "Events may be lost", scheduleExpression: EVERY_MINUTE });
    if (scaler !== undefined)
      rule(
        "scale",
        { description: "Scales in place of a gateway", scheduleExpression: EVERY_MINUTE },
        scaler,
      );
    this.#patience("reconciler", reconciler, 2);
    // It stays for minutes, and the schedule comes each minute.
    if (scaler !== undefined) this.#patience("scaler", scaler, 0);
    this.registerOutputs({});
  }

  #rule(name: string, args: aws.cloudwatch.EventRuleArgs, target: LambdaFunction): void {
    const parent = { parent: this };
    const rule = new aws.cloudwatch.EventRule(name, args, parent);
    const permission = new aws.lambda.Permission(
      `on-${name}`,
      {
        function: target.functionName,
        action: "lambda:InvokeFunction",
        principal: "events.amazonaws.com",
        sourceArn: rule.arn,
      },
      parent,
    );
    new aws.cloudwatch.EventTarget(
      name,
      { rule: rule.name, arn: target.arn },
      { ...parent, dependsOn: permission },
    );
  }

  #patience(name: string, { functionName }: LambdaFunction, maximumRetryAttempts: number): void {
    new aws.lambda.FunctionEventInvokeConfig(
      name,
      { functionName, maximumRetryAttempts, maximumEventAgeInSeconds: MAX_EVENT_AGE_S },
      { parent: this },
    );
  }
}

function pattern(
  source: string,
  types: string[],
  detail?: Record<string, pulumi.Input<unknown>>,
): pulumi.Output<string> {
  return pulumi.jsonStringify({ source: [source], "detail-type": types, ...(detail && { detail }) });
}
