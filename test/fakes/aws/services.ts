import * as autoScaling from "@aws-sdk/client-auto-scaling";
import * as batch from "@aws-sdk/client-batch";
import * as logs from "@aws-sdk/client-cloudwatch-logs";
import * as ec2 from "@aws-sdk/client-ec2";
import * as ecs from "@aws-sdk/client-ecs";
import * as eventBridge from "@aws-sdk/client-eventbridge";
import * as lambda from "@aws-sdk/client-lambda";
import * as ssm from "@aws-sdk/client-ssm";
import { autoScalingHandlers } from "./auto-scaling.ts";
import { batchHandlers, type BatchState } from "./batch/handlers.ts";
import { ec2Handlers } from "./ec2.ts";
import { ecsHandlers } from "./ecs/handlers.ts";
import type { EcsState } from "./ecs/run-task.ts";
import { eventBridgeHandlers } from "./event-bridge.ts";
import { lambdaHandlers, type FakeFunction } from "./lambda.ts";
import { logsHandlers } from "./logs.ts";
import { ruleHandlers } from "./rules.ts";
import type { Service } from "./server.ts";
import { ssmHandlers } from "./ssm.ts";
import { jsonProtocol } from "./wire/json.ts";
import { ec2Protocol, queryProtocol } from "./wire/query.ts";
import { restProtocol } from "./wire/rest.ts";
import type { World } from "./world.ts";

/** Every service, over one world. */
export function servicesOf(
  world: World,
  ecsState: EcsState,
  batchState: BatchState,
  functions: ReadonlyMap<string, FakeFunction>,
): Service[] {
  const json = { protocol: jsonProtocol, invalidCode: "ValidationException" };
  return [
    {
      ...json,
      name: "ecs",
      models: ecs,
      mark: "AmazonEC2ContainerServiceV20141113",
      invalidCode: "InvalidParameterException",
      handlers: ecsHandlers(ecsState, world),
    },
    {
      ...json,
      name: "events",
      models: eventBridge,
      mark: "AWSEvents",
      handlers: { ...eventBridgeHandlers(world.events), ...ruleHandlers(world, functions) },
    },
    {
      ...json,
      name: "ssm",
      models: ssm,
      mark: "AmazonSSM",
      handlers: ssmHandlers(world.parameters, () => world.clock.now()),
    },
    {
      ...json,
      name: "logs",
      models: logs,
      mark: "Logs_20140328",
      invalidCode: "InvalidParameterException",
      handlers: logsHandlers(world.logs, () => world.clock.now()),
    },
    {
      name: "ec2",
      models: ec2,
      protocol: ec2Protocol,
      mark: "2016-11-15",
      invalidCode: "InvalidParameterValue",
      handlers: ec2Handlers(world),
    },
    {
      name: "autoscaling",
      models: autoScaling,
      protocol: queryProtocol,
      mark: "2011-01-01",
      invalidCode: "ValidationError",
      handlers: autoScalingHandlers(world),
    },
    {
      name: "batch",
      models: batch,
      protocol: restProtocol,
      invalidCode: "ClientException",
      handlers: batchHandlers(batchState, world),
    },
    {
      name: "lambda",
      models: lambda,
      protocol: restProtocol,
      invalidCode: "InvalidParameterValueException",
      handlers: lambdaHandlers(functions, world),
    },
  ];
}
