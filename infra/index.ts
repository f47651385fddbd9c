import * as pulumi from "@pulumi/pulumi";
import { agentFiles } from "./bundle/agent-archive.ts";
import { engineFiles } from "./bundle/engine-archive.ts";
import { gatewayFiles } from "./bundle/gateway-files.ts";
import { Alarms } from "./components/alarms.ts";
import { Budget } from "./components/budget.ts";
import { Compute } from "./components/compute.ts";
import { DataBucket } from "./components/data-bucket.ts";
import { Events } from "./components/events.ts";
import { FrontDoor } from "./components/front-door.ts";
import { commonVariables, functionName, Functions } from "./components/functions.ts";
import { Gateway } from "./components/gateway.ts";
import { LoadBalancer } from "./components/load-balancer.ts";
import { Network } from "./components/network.ts";
import { OriginSecret } from "./components/origin-secret.ts";
import { ProgramObject } from "./components/program.ts";
import { StateTable } from "./components/state-table.ts";
import { readConfig } from "./config.ts";

const config = readConfig();

// What everything stands on, and what lasts.
const network = new Network("network", config);
const bucket = new DataBucket("data", config, { s3EndpointId: network.s3EndpointId });
const table = new StateTable("state", config);
const secret = new OriginSecret("origin", config);

// Where runs and replicas are, and the engine that they fetch.
const engine = new ProgramObject(
  "engine",
  { bucketName: bucket.name, files: engineFiles("x64"), entry: "dist/engine/{kind}.js" },
  config,
);
const agent =
  Object.keys(config.engineImages).length === 0
    ? undefined
    : new ProgramObject(
        "agent",
        { bucketName: bucket.name, files: agentFiles(), entry: "spotter_agent" },
        config,
      );
const compute = new Compute(
  "compute",
  { network, program: engine.program, ...(agent && { agent: agent.program }) },
  config,
);

// The control plane: functions that are asked over HTTP, the front door that asks them, and all that must know its URL.
const { publicSubnetIds: subnetIds, securityGroups } = network;
const functions = new Functions(
  "functions",
  {
    tableName: table.name,
    bucketName: bucket.name,
    containerPlaces: compute.places,
    containerNames: compute.names,
    originSecret: secret.value,
    network: { subnetIds, securityGroupIds: [securityGroups.gateway] },
  },
  config,
);
const balancer =
  config.gateway === "fargate"
    ? new LoadBalancer("gateway", { vpcId: network.vpcId, subnetIds }, config)
    : undefined;
const frontDoor = new FrontDoor(
  "front-door",
  {
    functions: functions.all().flatMap(([name, { url }]) => (url === undefined ? [] : { name, url })),
    ...(balancer && { gateway: { domainName: balancer.originName, usesTls: balancer.usesTls } }),
    originSecret: secret.value,
  },
  config,
);
functions.makeEventFunctions(frontDoor.url);
if (balancer !== undefined) {
  const program = new ProgramObject(
    "gateway",
    { bucketName: bucket.name, files: gatewayFiles(), entry: "index.mjs" },
    config,
  );
  new Gateway(
    "gateway",
    {
      clusterArn: compute.cluster.arn,
      subnetIds,
      securityGroupId: securityGroups.gateway,
      balancer,
      program: program.program,
      names: functions.names,
      variables: {
        ...commonVariables(config),
        SPOTTER_TABLE: table.name,
        SPOTTER_URL: frontDoor.url,
        SPOTTER_RECONCILER_FUNCTION: functionName("reconciler"),
      },
      originSecretArn: secret.parameterArn,
    },
    config,
  );
}

// What keeps it going, and tells when it does not.
new Events(
  "events",
  {
    reconciler: functions.get("reconciler"),
    ...(config.gateway === "lambda" && { scaler: functions.get("scaler") }),
    clusterArn: compute.cluster.arn,
    jobQueueArns: compute.names.jobQueueArns,
  },
  config,
);
const budget = new Budget("budget", config);
new Alarms(
  "alarms",
  { topicArn: budget.topicArn, functions: functions.all(), ...(balancer && { balancer }) },
  config,
);

/** Where the stack answers: pages, API and chats. `SPOTTER_URL` of who uses it. */
export const url = frontDoor.url;
/** Base URL for clients of OpenAI's API. */
export const gatewayUrl = pulumi.interpolate`${frontDoor.url}/v1`;
/** Checkpoints, datasets, rollouts, programs. */
export const bucketName = bucket.name;
/** Records. */
export const tableName = table.name;
/** Of replicas: none of it may be left after `spotter destroy`. */
export const clusterName = compute.cluster.name;
/** Makes the first key: `aws lambda invoke` it, or `spotter key bootstrap`. */
export const keyBootstrapFunction = functions.get("key-bootstrap").functionName;
