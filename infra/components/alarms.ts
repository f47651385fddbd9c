import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import type { FunctionName } from "./functions-table.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import type { LoadBalancer } from "./load-balancer.ts";

export interface AlarmsArgs {
  /** Topic where they are told. */
  topicArn: pulumi.Input<string>;
  functions: [FunctionName, Pick<LambdaFunction, "functionName">][];
  /** Before the gateway; undefined where chats are a function. */
  balancer?: Pick<LoadBalancer, "arnSuffix" | "targetGroupArnSuffix">;
}

type Metric = Pick<
  aws.cloudwatch.MetricAlarmArgs,
  | "namespace"
  | "metricName"
  | "dimensions"
  | "statistic"
  | "period"
  | "evaluationPeriods"
  | "datapointsToAlarm"
  | "comparisonOperator"
  | "threshold"
  | "treatMissingData"
>;

/** How many failed calls within five minutes are no accident. */
const ERRORS = 5;

/**
 * Alarms for what would otherwise be found out by its users: functions that fail or are refused, a reconciler that
 * nobody calls any more, a gateway that is gone. About $0.10 a month each.
 */
export class Alarms extends pulumi.ComponentResource {
  readonly #actions: pulumi.Input<string>[];
  readonly #config: StackConfig;

  constructor(
    name: string,
    args: AlarmsArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:Alarms", name, {}, options);
    this.#config = config;
    this.#actions = [args.topicArn];
    for (const [each, { functionName }] of args.functions) {
      this.#alarm(`${each}-errors`, `The function ${each} fails: its log says why.`, {
        ...lambda("Errors", functionName),
        ...atLeast(ERRORS),
      });
    }
    this.#alarm("throttles", "Functions are refused: ask AWS for more concurrent executions.", {
      // Of the whole account, as it is the account's limit that they share.
      ...lambda("Throttles"),
      ...atLeast(1),
    });
    const reconciler = args.functions.find(([each]) => each === "reconciler")?.[1];
    if (reconciler !== undefined) {
      this.#alarm("reconciler-silence", "Nobody calls the reconciler: is its schedule disabled?", {
        ...lambda("Invocations", reconciler.functionName),
        ...fewerThan(1, 300),
      });
    }
    if (args.balancer !== undefined) {
      this.#alarm("gateway-unhealthy", "No gateway is well: chats are answered 503. Its log says why.", {
        namespace: "AWS/ApplicationELB",
        metricName: "HealthyHostCount",
        dimensions: {
          LoadBalancer: args.balancer.arnSuffix,
          TargetGroup: args.balancer.targetGroupArnSuffix,
        },
        ...fewerThan(1, 60, 3),
        statistic: "Maximum",
      });
    }
    this.registerOutputs({});
  }

  #alarm(name: string, description: string, metric: Metric): void {
    new aws.cloudwatch.MetricAlarm(
      name,
      {
        alarmDescription: description,
        alarmActions: this.#actions,
        okActions: this.#actions,
        tags: this.#config.tags,
        ...metric,
      },
      { parent: this },
    );
  }
}

function lambda(metricName: string, functionName?: pulumi.Input<string>) {
  return {
    namespace: "AWS/Lambda",
    metricName,
    statistic: "Sum",
    ...(functionName !== undefined && { dimensions: { FunctionName: functionName } }),
  };
}

/** Within five minutes. No word means that there was none. */
function atLeast(threshold: number) {
  return {
    period: 300,
    evaluationPeriods: 1,
    comparisonOperator: "GreaterThanOrEqualToThreshold",
    threshold,
    treatMissingData: "notBreaching",
  };
}

/** No word is as bad as a word of none. */
function fewerThan(threshold: number, period: number, evaluationPeriods = 1) {
  return {
    period,
    evaluationPeriods,
    comparisonOperator: "LessThanThreshold",
    threshold,
    treatMissingData: "breaching",
  };
}
