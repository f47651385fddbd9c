import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { bundle } from "../bundle.ts";
import type { StackConfig } from "../config.ts";

export interface HttpFunctionArgs {
  /** File that exports `handler`. */
  entry: URL;
  /** Default 1024; the share of a processor grows with it. */
  memoryMiB?: number;
  /** Default 30. */
  timeoutS?: number;
}

/** A Lambda with a URL of its own, its log group and a role that may write to that group and nothing else. */
export class HttpFunction extends pulumi.ComponentResource {
  readonly url: pulumi.Output<string>;

  constructor(
    name: string,
    args: HttpFunctionArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:HttpFunction", name, {}, options);
    const parent = { parent: this };
    const logs = new aws.cloudwatch.LogGroup(
      name,
      { retentionInDays: config.logRetentionDays, tags: config.tags },
      parent,
    );
    const role = new aws.iam.Role(
      name,
      {
        assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" }),
        tags: config.tags,
      },
      parent,
    );
    const policy = new aws.iam.RolePolicy(name, { role: role.id, policy: logs.arn.apply(writeLogs) }, parent);
    const lambda = new aws.lambda.Function(
      name,
      {
        runtime: aws.lambda.Runtime.NodeJS24dX,
        architectures: ["arm64"],
        handler: "index.handler",
        code: new pulumi.asset.AssetArchive(filesOf(args.entry)),
        role: role.arn,
        memorySize: args.memoryMiB ?? 1024,
        timeout: args.timeoutS ?? 30,
        environment: { variables: { SPOTTER_VERSION: config.version } },
        loggingConfig: { logFormat: "JSON", logGroup: logs.name },
        tags: config.tags,
      },
      // A function that starts before it may write logs loses its first lines.
      { ...parent, dependsOn: policy },
    );
    const address = new aws.lambda.FunctionUrl(
      name,
      { functionName: lambda.name, authorizationType: "NONE" },
      parent,
    );
    openToAll(name, lambda, parent);
    this.url = address.functionUrl;
    this.registerOutputs({ url: this.url });
  }
}

async function filesOf(entry: URL): Promise<pulumi.asset.AssetMap> {
  const files = Object.entries(await bundle(entry));
  return Object.fromEntries(files.map(([name, text]) => [name, new pulumi.asset.StringAsset(text)]));
}

/** A URL without AWS authentication needs both statements; with one of them everything is answered 403. */
function openToAll(name: string, lambda: aws.lambda.Function, parent: pulumi.ResourceOptions): void {
  new aws.lambda.Permission(
    `${name}-url`,
    {
      function: lambda.name,
      action: "lambda:InvokeFunctionUrl",
      principal: "*",
      functionUrlAuthType: "NONE",
    },
    parent,
  );
  new aws.lambda.Permission(
    `${name}-via-url`,
    { function: lambda.name, action: "lambda:InvokeFunction", principal: "*", invokedViaFunctionUrl: true },
    parent,
  );
}

function writeLogs(groupArn: string): string {
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: `${groupArn}:*`,
      },
    ],
  } satisfies aws.iam.PolicyDocument);
}
