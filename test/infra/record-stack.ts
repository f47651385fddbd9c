import * as pulumi from "@pulumi/pulumi";

export interface Recorded {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
}

/** Runs the whole program against stand-ins for AWS; resolves to what it would create, and its outputs. */
export async function recordStack(config: Record<string, string> = {}) {
  const resources: Recorded[] = [];
  pulumi.runtime.setAllConfig(config);
  await pulumi.runtime.setMocks(
    {
      newResource: (args) => {
        resources.push({
          type: args.type,
          name: args.name,
          inputs: args.inputs as Record<string, unknown>,
        });
        return { id: `${args.name}-id`, state: stateOf(args) };
      },
      call: (args) => args.inputs as Record<string, unknown>,
    },
    "spotter",
    "test",
    false,
  );
  // Only now: the resources of the program belong to the engine that is set when it is loaded.
  const { url, bucketName, tableName } = await import("../../infra/index.ts");
  const outputs = await Promise.all([url, bucketName, tableName].map(valueOf));
  await pulumi.runtime.disconnect();
  return { resources, outputs };
}

/** Names and ARNs as the services themselves would give them. */
function stateOf({ type, name, inputs }: pulumi.runtime.MockResourceArgs): Record<string, unknown> {
  const region = "eu-central-1:123456789012";
  const given: Record<string, Record<string, unknown>> = {
    "aws:s3/bucket:Bucket": { bucket: `${name}-1a2b3c4`, arn: `arn:aws:s3:::${name}-1a2b3c4` },
    "aws:dynamodb/table:Table": { arn: `arn:aws:dynamodb:${region}:table/${name}-1a2b3c4` },
    "aws:iam/role:Role": { arn: `arn:aws:iam::123456789012:role/${name}-1a2b3c4` },
    "aws:lambda/function:Function": { arn: `arn:aws:lambda:${region}:function:${name}-1a2b3c4` },
    "aws:cloudwatch/logGroup:LogGroup": { arn: `arn:aws:logs:${region}:log-group:${name}-1a2b3c4` },
    "aws:lambda/functionUrl:FunctionUrl": { functionUrl: `https://${name}.lambda-url.eu-central-1.on.aws/` },
  };
  return { ...(inputs as Record<string, unknown>), name: `${name}-1a2b3c4`, ...given[type] };
}

function valueOf(output: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => {
    output.apply(resolve);
  });
}
