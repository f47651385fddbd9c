import { asked, isGone } from "./aws-failure.ts";
import type { Found, Lookup } from "./leftovers.ts";
import { clientOptions, loadClient } from "./load-client.ts";
import { kindOf, nameOf } from "./resource-kinds.ts";
import type { TaggedResource } from "./tagged-resources.ts";

/** What keeps something: buckets, tables, functions, logs. Each of those that bear the tag is asked for by name. */
export function storageLookups(region: string, tagged: readonly TaggedResource[]): Lookup[] {
  const lookup = (
    what: string,
    kind: string,
    needs: string,
    open: () => Promise<(name: string) => Promise<Found | string>>,
  ) => ({
    what,
    kinds: [kind],
    ask: async () => {
      const arns = tagged.map(({ arn }) => arn).filter((arn) => kindOf(arn) === kind);
      if (arns.length === 0) return [];
      const ask = await open();
      const found = await Promise.all(
        arns.map((arn) => asked({ what: `Looking for ${nameOf(arn)}`, needs }, () => existing(arn, ask))),
      );
      return found.filter((each) => each !== undefined);
    },
  });
  return [
    lookup("buckets of S3", "s3:bucket", "s3:ListBucket", () => buckets(region)),
    lookup("tables of DynamoDB", "dynamodb:table", "dynamodb:DescribeTable", () => tables(region)),
    lookup("functions of Lambda", "lambda:function", "lambda:GetFunctionConfiguration", () =>
      functions(region),
    ),
    lookup("groups of logs", "logs:log-group", "logs:DescribeLogGroups", () => logGroups(region)),
  ];
}

async function existing(
  arn: string,
  ask: (name: string) => Promise<Found | string>,
): Promise<Found | undefined> {
  try {
    const detail = await ask(nameOf(arn));
    return typeof detail === "string" ? { arn, ...(detail !== "" && { detail }) } : detail;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function buckets(region: string) {
  const sdk = await loadClient("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
  const client = new sdk.S3Client(clientOptions({ region }));
  return async (name: string) => {
    await client.send(new sdk.HeadBucketCommand({ Bucket: name }));
    return "";
  };
}

async function tables(region: string) {
  const sdk = await loadClient("@aws-sdk/client-dynamodb", () => import("@aws-sdk/client-dynamodb"));
  const client = new sdk.DynamoDBClient(clientOptions({ region }));
  return async (name: string) => {
    const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: name }));
    return `${Table?.ItemCount ?? 0} items, ${Math.round((Table?.TableSizeBytes ?? 0) / 2 ** 20)} MiB`;
  };
}

async function functions(region: string) {
  const sdk = await loadClient("@aws-sdk/client-lambda", () => import("@aws-sdk/client-lambda"));
  const client = new sdk.LambdaClient(clientOptions({ region }));
  return async (name: string) => {
    await client.send(new sdk.GetFunctionConfigurationCommand({ FunctionName: name }));
    return "";
  };
}

async function logGroups(region: string) {
  const sdk = await loadClient(
    "@aws-sdk/client-cloudwatch-logs",
    () => import("@aws-sdk/client-cloudwatch-logs"),
  );
  const client = new sdk.CloudWatchLogsClient(clientOptions({ region }));
  return async (name: string) => {
    const { logGroups: found = [] } = await client.send(
      new sdk.DescribeLogGroupsCommand({ logGroupNamePrefix: name.replace(/:\*$/, "") }),
    );
    const own = found.find(({ logGroupName }) => logGroupName === name.replace(/:\*$/, ""));
    if (own === undefined) throw Object.assign(new Error("no such group"), { name: "NotFound" });
    return `${Math.round((own.storedBytes ?? 0) / 2 ** 20)} MiB`;
  };
}
