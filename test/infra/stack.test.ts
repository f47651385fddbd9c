import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { openPorts, type AwsAdapters } from "../../functions/aws/aws-deps/open.ts";
import { blobs } from "../../functions/aws/aws-deps/blobs.ts";
import { containerPlaces, containers } from "../../functions/aws/aws-deps/containers.ts";
import { isolates } from "../../functions/aws/aws-deps/isolates.ts";
import { secrets } from "../../functions/aws/aws-deps/secrets.ts";
import { store } from "../../functions/aws/aws-deps/store.ts";
import { readConfig } from "../../infra/config.ts";
import { STATE_TABLE } from "../fakes/dynamo.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
// What is in the functions is tested where they run; here it is which there are, and what they are told.
import "./without-bundles.ts";

let resources: Recorded[];
let outputs: Record<string, unknown>;
let small: Recorded[];
beforeAll(async () => {
  ({ resources, outputs } = await recordStack());
  ({ resources: small } = await recordStack({ "spotter:gateway": "lambda" }));
}, 60_000);

const all = (type: string, of = resources): Recorded[] => of.filter((resource) => resource.type === type);

function only(type: string): Record<string, unknown> {
  const found = all(type);
  expect(found, type).toHaveLength(1);
  return found[0]?.inputs ?? {};
}

it("tells where everything is", () => {
  expect(outputs).toEqual({
    url: "https://d111111abcdef8.cloudfront.net",
    gatewayUrl: "https://d111111abcdef8.cloudfront.net/v1",
    bucketName: "data-1a2b3c4",
    tableName: "state-1a2b3c4",
    clusterName: "replicas-1a2b3c4",
    keyBootstrapFunction: "spotter-test-key-bootstrap",
  });
});

it("tells as much by the entry that Pulumi starts", () => {
  const entry = readFileSync(join(import.meta.dirname, "../../infra/start.mjs"), "utf8");
  const [, names = ""] = /export const \{([^}]*)\}/.exec(entry) ?? [];
  expect(
    names
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean)
      .sort(),
  ).toEqual(Object.keys(outputs).sort());
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
    const { Statement } = JSON.parse(String(only("aws:s3/bucketPolicy:BucketPolicy")["policy"])) as {
      Statement: { Effect: string; Action: string; Resource: string; Condition: object }[];
    };
    // Programs, which are no secret, for who is in the stack's own network.
    expect(Statement.filter(({ Effect }) => Effect !== "Deny")).toMatchObject([
      {
        Action: "s3:GetObject",
        Resource: "arn:aws:s3:::data-1a2b3c4/programs/*",
        Condition: { StringEquals: { "aws:SourceVpce": expect.stringMatching(/^vpce-/) as string } },
      },
    ]);
  });

  it("is encrypted, and refuses plain HTTP", () => {
    const type = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration";
    expect(only(type)["rules"]).toEqual([{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }]);
    const policy = JSON.parse(only("aws:s3/bucketPolicy:BucketPolicy")["policy"] as string) as unknown;
    expect(policy).toMatchObject({
      Statement: expect.arrayContaining([
        expect.objectContaining({
          Effect: "Deny",
          Action: "s3:*",
          Resource: ["arn:aws:s3:::data-1a2b3c4", "arn:aws:s3:::data-1a2b3c4/*"],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        }),
      ]) as unknown[],
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

it("keeps state in a table that is paid by use, can be restored, and has four indexes", () => {
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

describe("the functions", () => {
  const FUNCTION = "aws:lambda/function:Function";
  const variablesOf = ({ inputs }: Recorded) =>
    (inputs["environment"] as { variables: Record<string, string> }).variables;
  const ADAPTERS: Record<string, AwsAdapters[keyof AwsAdapters]> = {
    SPOTTER_BUCKET: blobs,
    SPOTTER_CONTAINERS: containers,
    SPOTTER_ISOLATE_ROLE_ARN: isolates,
  };

  it("understand the variables they get", () => {
    for (const each of [...all(FUNCTION), ...all(FUNCTION, small)]) {
      const variables = variablesOf(each);
      const named = Object.entries(ADAPTERS).filter(([name]) => name in variables);
      const adapters = Object.fromEntries(
        named.map(([name, adapter]) => [
          { SPOTTER_BUCKET: "blobs", SPOTTER_CONTAINERS: "containers" }[name] ?? "isolates",
          adapter,
        ]),
      );
      const environment = { SPOTTER_URL: "https://told-by-the-front-door.example.com", ...variables };
      const { settings } = openPorts({ store, secrets, ...adapters }, { environment });
      expect(settings.SPOTTER_STACK, each.name).toBe("test");
    }
  });

  it("share their table and their reconciler with the gateway, which understands its own variables", () => {
    const { inputs } =
      all("aws:ecs/taskDefinition:TaskDefinition").find(({ name }) => name === "gateway") ?? {};
    const [container] = JSON.parse(String(inputs?.["containerDefinitions"])) as [
      { environment: { name: string; value: string }[] },
    ];
    const environment = Object.fromEntries(container.environment.map(({ name, value }) => [name, value]));
    const { settings, config } = openPorts({ store }, { environment });
    expect(config.publicUrl()).toBe(outputs["url"]);
    expect(settings["SPOTTER_TABLE"]).toBe(outputs["tableName"]);
    const reconciler = all(FUNCTION).find(({ name }) => name === "reconciler");
    expect(settings.SPOTTER_RECONCILER_FUNCTION).toBe(reconciler?.inputs["name"]);
  });

  it("are told of places for containers of every class that the stack has", async () => {
    const settings = { "spotter:gpuClasses": '["L4:1", "L40S:1", "H100:8"]', "spotter:spot": "true" };
    const { resources: large } = await recordStack(settings);
    const variables = all(FUNCTION, large).map(variablesOf);
    const texts = variables.flatMap(({ SPOTTER_CONTAINERS: text }) => text ?? []);
    expect(new Set(texts).size).toBe(1);
    const places = containerPlaces.parse(JSON.parse(texts[0] ?? ""));
    expect(Object.keys(places.work).sort()).toEqual(["H100:8", "L40S:1", "L4:1", "cpu"]);
    expect(Object.keys(places.serve).sort()).toEqual(["H100:8", "L40S:1", "L4:1", "cpu"]);
    // Lambda takes 4 KB of variables.
    for (const each of variables) expect(JSON.stringify(each).length).toBeLessThan(4096);
  }, 20_000);

  it("have names of their own, and so have roles and logs", () => {
    for (const type of [FUNCTION, "aws:cloudwatch/logGroup:LogGroup"]) {
      const names = all(type).map(({ inputs }) => inputs["name"]);
      expect(new Set(names).size, type).toBe(names.length);
    }
    const roles = all(FUNCTION).map(({ inputs }) => inputs["role"]);
    expect(new Set(roles).size).toBe(roles.length);
  });
});

it("calls the scaler where no gateway scales, and has no load balancer there", () => {
  expect(all("aws:lb/loadBalancer:LoadBalancer")).toHaveLength(1);
  expect(all("aws:lb/loadBalancer:LoadBalancer", small)).toEqual([]);
  const scheduled = (of: Recorded[]) => all("aws:cloudwatch/eventRule:EventRule", of).map(({ name }) => name);
  expect(scheduled(resources)).not.toContain("scale");
  expect(scheduled(small)).toContain("scale");
});

it("keeps the origin secret secret wherever it is", () => {
  for (const { name, secrets: marked, inputs } of all("aws:lambda/function:Function")) {
    const variables = (inputs["environment"] as { variables: Record<string, string> }).variables;
    if (variables["SPOTTER_ORIGIN_SECRET"] === undefined) continue;
    expect(
      marked.some((path) => path.startsWith("environment")),
      name,
    ).toBe(true);
  }
  const distribution = all("aws:cloudfront/distribution:Distribution")[0];
  expect(distribution?.secrets.some((path) => path.startsWith("origins"))).toBe(true);
});

it.each(["with.dots", "a".repeat(41)])("refuses to be called %s, as functions cannot be", async (stack) => {
  await pulumi.runtime.setMocks(
    { newResource: () => ({ id: undefined, state: {} }), call: () => ({}) },
    "spotter",
    stack,
  );
  pulumi.runtime.setAllConfig({});
  expect(() => readConfig()).toThrow(/invalid_input: .*pulumi stack rename/);
});
