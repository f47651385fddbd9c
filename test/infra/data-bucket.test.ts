import { expect, it } from "vitest";
import { recordComponents } from "./record-components.ts";

const record = (settings: Record<string, string>, s3EndpointId?: string) =>
  recordComponents(settings, async (config) => {
    const { DataBucket } = await import("../../infra/components/data-bucket.ts");
    return { name: new DataBucket("data", config, { s3EndpointId }).name };
  });

it("lets containers read programs through the network's own door, and nothing else", async () => {
  const { only, outputs } = await record({}, "vpce-0123");
  const policy = JSON.parse(String(only("aws:s3/bucketPolicy:BucketPolicy").inputs["policy"])) as {
    Statement: { Effect: string }[];
  };
  expect(policy.Statement.filter(({ Effect }) => Effect === "Allow")).toEqual([
    {
      Sid: "ProgramsWithinTheNetwork",
      Effect: "Allow",
      Principal: "*",
      Action: "s3:GetObject",
      Resource: `arn:aws:s3:::${String(outputs["name"])}/programs/*`,
      Condition: { StringEquals: { "aws:SourceVpce": "vpce-0123" } },
    },
  ]);
});

const KEPT = [
  ...["Bucket", "BucketLifecycleConfiguration", "BucketOwnershipControls", "BucketPublicAccessBlock"],
  ...["BucketServerSideEncryptionConfiguration", "BucketVersioning"],
];

it.each([
  ["retain", true, false],
  ["destroy", false, true],
])(
  "with removal %s: protected %s, emptied when destroyed %s (83)",
  async (removal, protect, forceDestroy) => {
    const graph = await record({ removal });
    const bucket = graph.only("aws:s3/bucket:Bucket");
    expect(bucket.protect).toBe(protect);
    expect(bucket.inputs["forceDestroy"]).toBe(forceDestroy);
    // Kept, it stays as private as it was. Its policy goes, as that names a network that goes.
    const guarded = graph.resources
      .filter(({ protect: isKept }) => isKept)
      .map(({ type }) => type.split(":")[2]);
    expect(guarded.sort()).toEqual(protect ? KEPT : []);
  },
);
