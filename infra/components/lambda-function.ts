import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { bundle } from "../bundle.ts";
import type { StackConfig } from "../config.ts";
import type { FunctionDefinition } from "./functions-table.ts";
import { policyOf, writeLogs, type Statement } from "./roles.ts";

/** A network with IPv6, by which a function gets out. */
export interface FunctionNetwork {
  subnetIds: pulumi.Input<pulumi.Input<string>[]>;
  securityGroupIds: pulumi.Input<pulumi.Input<string>[]>;
}

export interface LambdaFunctionArgs {
  /** File that exports `handler`. */
  entry: URL;
  /** In AWS. Given, not made up: who wakes a function must know it before there is one. */
  functionName: string;
  logGroupName: string;
  definition: Pick<FunctionDefinition, "asked" | "memoryMiB" | "timeoutS">;
  variables: Record<string, pulumi.Input<string>>;
  /** What it may do besides writing its log. */
  statements: pulumi.Input<Statement[]>;
  /** Default: Lambda's own, which is not in anybody's way when it is destroyed. */
  network?: FunctionNetwork;
}

/** What AWS itself offers a role for a function in a network: to make its interfaces, and nothing else. */
const IN_NETWORK = "policy/service-role/AWSLambdaENIManagementAccess";

/** A Lambda with its log group, a role that may do what it does and nothing else, and a URL if it answers HTTP. */
export class LambdaFunction extends pulumi.ComponentResource {
  readonly arn: pulumi.Output<string>;
  readonly functionName: pulumi.Output<string>;
  /** Where the front door asks it: `https://id.lambda-url.region.on.aws/`. Undefined where it is not asked over HTTP. */
  readonly url: pulumi.Output<string> | undefined;

  constructor(
    name: string,
    args: LambdaFunctionArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:LambdaFunction", name, {}, options);
    const parent = { parent: this };
    const logs = new aws.cloudwatch.LogGroup(
      name,
      { name: args.logGroupName, retentionInDays: config.logRetentionDays, tags: config.tags },
      parent,
    );
    const role = new aws.iam.Role(
      `${name}-function`,
      {
        assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" }),
        tags: config.tags,
      },
      parent,
    );
    const policy = new aws.iam.RolePolicy(
      `${name}-function`,
      {
        role: role.id,
        policy: pulumi
          .all([logs.arn, args.statements])
          .apply(([arn, statements]) => policyOf([writeLogs(arn), ...statements])),
      },
      parent,
    );
    const { network } = args;
    const attachments = network === undefined ? [] : [mayBeInNetwork(name, role, parent)];
    const { asked, memoryMiB, timeoutS } = args.definition;
    const lambda = new aws.lambda.Function(
      name,
      {
        name: args.functionName,
        runtime: aws.lambda.Runtime.NodeJS24dX,
        architectures: ["arm64"],
        handler: "index.handler",
        code: new pulumi.asset.AssetArchive(filesOf(args.entry)),
        role: role.arn,
        memorySize: memoryMiB,
        timeout: timeoutS,
        environment: {
          // In a network without NAT the services of AWS are reached by IPv6, under other names.
          variables: { ...args.variables, ...(network && { AWS_USE_DUALSTACK_ENDPOINT: "true" }) },
        },
        ...(network && { vpcConfig: { ...network, ipv6AllowedForDualStack: true } }),
        loggingConfig: { logFormat: "JSON", logGroup: logs.name },
        ...(config.maxFunctionConcurrency !== undefined && {
          reservedConcurrentExecutions: config.maxFunctionConcurrency,
        }),
        tags: config.tags,
      },
      // A function that starts before it may write logs loses its first lines.
      { ...parent, dependsOn: [policy, ...attachments] },
    );
    this.arn = lambda.arn;
    this.functionName = lambda.name;
    this.url = asked === "event" ? undefined : openUrl(name, lambda, asked === "stream", parent);
    this.registerOutputs({ arn: this.arn, functionName: this.functionName, url: this.url });
  }
}

const bundles = new Map<string, ReturnType<typeof bundle>>();

/** Made once a process: a program that is run again, as tests do, finds it done. */
async function filesOf(entry: URL): Promise<pulumi.asset.AssetMap> {
  const making = bundles.get(entry.href) ?? bundle(entry);
  bundles.set(entry.href, making);
  const files = Object.entries(await making);
  return Object.fromEntries(files.map(([name, text]) => [name, new pulumi.asset.StringAsset(text)]));
}

function mayBeInNetwork(
  name: string,
  role: aws.iam.Role,
  parent: pulumi.CustomResourceOptions,
): aws.iam.RolePolicyAttachment {
  const { partition } = aws.getPartitionOutput({}, parent);
  return new aws.iam.RolePolicyAttachment(
    `${name}-network`,
    { role: role.name, policyArn: pulumi.interpolate`arn:${partition}:iam::aws:${IN_NETWORK}` },
    parent,
  );
}

/**
 * A URL that AWS lets everyone ask; the function itself answers only who shows the secret of the front door. That
 * takes both statements; with one of them everything is answered 403. One after the other: they change one policy.
 */
function openUrl(
  name: string,
  lambda: aws.lambda.Function,
  streams: boolean,
  parent: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const address = new aws.lambda.FunctionUrl(
    name,
    {
      functionName: lambda.name,
      authorizationType: "NONE",
      invokeMode: streams ? "RESPONSE_STREAM" : "BUFFERED",
    },
    parent,
  );
  const first = new aws.lambda.Permission(
    `${name}-url`,
    {
      function: lambda.name,
      action: "lambda:InvokeFunctionUrl",
      principal: "*",
      functionUrlAuthType: "NONE",
    },
    { ...parent, dependsOn: address },
  );
  new aws.lambda.Permission(
    `${name}-via-url`,
    { function: lambda.name, action: "lambda:InvokeFunction", principal: "*", invokedViaFunctionUrl: true },
    { ...parent, dependsOn: first },
  );
  return address.functionUrl;
}
