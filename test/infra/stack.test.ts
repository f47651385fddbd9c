import { beforeAll, describe, expect, it } from "vitest";
import { STATE_TABLE } from "../fakes/dynamo.ts";
import { recordStack, type Recorded } from "./record-stack.ts";

let resources: Recorded[];
let outputs: Record<string, unknown>;
beforeAll(async () => {
  ({ resources, outputs } = await recordStack());
}, 60_000);

function all(type: string): Recorded[] {
  return resources.filter((resource) => resource.type === type);
}

function only(type: string): Record<string, unknown> {
  const found = all(type);
  expect(found, type).toHaveLength(1);
  return found[0]?.inputs ?? {};
}

it("creates these resources and no others", () => {
  const counts: Record<string, number> = {};
  for (const { type } of resources) counts[type] = (counts[type] ?? 0) + 1;
  expect(counts).toEqual({
    "spotter:index:DataBucket": 1,
    "aws:s3/bucket:Bucket": 1,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": 1,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": 1,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": 1,
    "aws:s3/bucketVersioning:BucketVersioning": 1,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": 1,
    "aws:s3/bucketPolicy:BucketPolicy": 1,
    "spotter:index:StateTable": 1,
    "aws:dynamodb/table:Table": 1,
    "spotter:index:HttpFunction": 1,
    "aws:cloudwatch/logGroup:LogGroup": 1,
    "aws:iam/role:Role": 1,
    "aws:iam/rolePolicy:RolePolicy": 1,
    "aws:lambda/function:Function": 1,
    "aws:lambda/functionUrl:FunctionUrl": 1,
    "aws:lambda/permission:Permission": 2,
  });
});

it("tells where everything is", () => {
  expect(outputs).toEqual({
    url: "https://control-1a2b3c4.lambda-url.eu-central-1.on.aws/",
    bucketName: "data-1a2b3c4",
    tableName: "state-1a2b3c4",
  });
});

it("tags everything that can have tags with its stack", () => {
  const taggable = ["Bucket", "Table", "LogGroup", "Role", "Function"];
  const found = resources.filter(({ type }) => taggable.includes(type.split(":").at(-1) ?? ""));
  expect(found).toHaveLength(5);
  for (const { name, inputs } of found) {
    expect(inputs["tags"], name).toEqual({ "spotter:stack": "test", "spotter:project": "spotter" });
  }
});

describe("the bucket", () => {
  it("is never public", () => {
    expect(only("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")).toEqual({
      bucket: "data-1a2b3c4",
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    });
    expect(only("aws:s3/bucketOwnershipControls:BucketOwnershipControls")["rule"]).toEqual({
      objectOwnership: "BucketOwnerEnforced",
    });
    expect(all("aws:s3/bucketAcl:BucketAcl")).toEqual([]);
    const { Statement } = JSON.parse(only("aws:s3/bucketPolicy:BucketPolicy")["policy"] as string) as {
      Statement: { Effect: string }[];
    };
    expect(Statement.filter(({ Effect }) => Effect !== "Deny")).toEqual([]);
  });

  it("is encrypted, and refuses plain HTTP", () => {
    const type = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration";
    expect(only(type)["rules"]).toEqual([{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }]);
    const policy = JSON.parse(only("aws:s3/bucketPolicy:BucketPolicy")["policy"] as string) as unknown;
    expect(policy).toMatchObject({
      Statement: [
        {
          Effect: "Deny",
          Action: "s3:*",
          Resource: ["arn:aws:s3:::data-1a2b3c4", "arn:aws:s3:::data-1a2b3c4/*"],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
      ],
    });
  });

  it("lets a deletion be undone for a week, and forgets unfinished uploads", () => {
    expect(only("aws:s3/bucketVersioning:BucketVersioning")["versioningConfiguration"]).toEqual({
      status: "Enabled",
    });
    expect(only("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration")["rules"]).toMatchObject([
      { status: "Enabled", noncurrentVersionExpiration: { noncurrentDays: 7 } },
      { status: "Enabled", abortIncompleteMultipartUpload: { daysAfterInitiation: 7 } },
    ]);
  });
});

it("keeps state in a table that is paid by use, can be restored, and has three indexes", () => {
  const table = only("aws:dynamodb/table:Table");
  expect(table).toMatchObject({
    billingMode: "PAY_PER_REQUEST",
    hashKey: "pk",
    rangeKey: "sk",
    pointInTimeRecovery: { enabled: true },
    serverSideEncryption: { enabled: true },
    deletionProtectionEnabled: true,
  });
  const indexes = table["globalSecondaryIndexes"] as {
    name: string;
    keySchemas: { attributeName: string; keyType: string }[];
    projectionType: string;
  }[];
  const used = indexes.flatMap(({ keySchemas }) => keySchemas.map(({ attributeName }) => attributeName));
  // DynamoDB refuses attributes that no key uses, and keys without an attribute.
  const declared = (table["attributes"] as { name: string }[]).map(({ name }) => name);
  expect([...declared].sort()).toEqual(["pk", "sk", ...used].sort());
  // The tests of the store run on a table that was made like this one.
  expect(
    indexes.map(({ name, keySchemas, projectionType }) => ({
      IndexName: name,
      KeySchema: keySchemas.map((key) => ({ AttributeName: key.attributeName, KeyType: key.keyType })),
      Projection: { ProjectionType: projectionType },
    })),
  ).toEqual(STATE_TABLE.GlobalSecondaryIndexes);
});

describe("the function", () => {
  it("runs on Node 24 for ARM, with what the bundle exports", () => {
    expect(only("aws:lambda/function:Function")).toMatchObject({
      runtime: "nodejs24.x",
      architectures: ["arm64"],
      handler: "index.handler",
      memorySize: 1024,
      timeout: 30,
      role: "arn:aws:iam::123456789012:role/control-1a2b3c4",
      environment: { variables: { SPOTTER_VERSION: expect.stringMatching(/^\d+\.\d+\.\d+/) as string } },
    });
  });

  it("keeps its logs for a limited time, in a group of the stack", () => {
    expect(only("aws:cloudwatch/logGroup:LogGroup")["retentionInDays"]).toBe(30);
    expect(only("aws:lambda/function:Function")["loggingConfig"]).toEqual({
      logFormat: "JSON",
      logGroup: "control-1a2b3c4",
    });
  });

  it("may write its own logs and nothing else", () => {
    const policy = JSON.parse(only("aws:iam/rolePolicy:RolePolicy")["policy"] as string) as unknown;
    expect(policy).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
          Resource: "arn:aws:logs:eu-central-1:123456789012:log-group:control-1a2b3c4:*",
        },
      ],
    });
    expect(all("aws:iam/rolePolicyAttachment:RolePolicyAttachment")).toEqual([]);
  });

  it("answers at its URL: both statements are there, for everyone", () => {
    expect(only("aws:lambda/functionUrl:FunctionUrl")).toMatchObject({ authorizationType: "NONE" });
    const statements = all("aws:lambda/permission:Permission").map(({ inputs }) => inputs);
    expect(statements).toEqual([
      {
        function: "control-1a2b3c4",
        action: "lambda:InvokeFunctionUrl",
        principal: "*",
        functionUrlAuthType: "NONE",
      },
      {
        function: "control-1a2b3c4",
        action: "lambda:InvokeFunction",
        principal: "*",
        invokedViaFunctionUrl: true,
      },
    ]);
  });
});
