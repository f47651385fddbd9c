import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";

/** Days after which a replaced or deleted object is gone for good: time to undo a mistake. */
const UNDO_DAYS = 7;

export interface DataBucketArgs {
  /** Door of the stack's network to S3: who comes through it may read programs without credentials. */
  s3EndpointId?: pulumi.Input<string>;
}

/** Where programs lie that containers fetch. They are no secret, and containers have no credentials. */
const PROGRAMS = "programs/*";

/** Checkpoints, datasets, rollouts: a private bucket that answers over TLS only. */
export class DataBucket extends pulumi.ComponentResource {
  readonly name: pulumi.Output<string>;

  constructor(
    name: string,
    config: StackConfig,
    { s3EndpointId }: DataBucketArgs = {},
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:DataBucket", name, {}, options);
    const parent = { parent: this };
    const protect = config.removal === "retain";
    // Where the bucket stays, what makes it private and durable stays with it. Not its policy: that names the network.
    const lasting = { ...parent, protect };
    const bucket = new aws.s3.Bucket(name, { forceDestroy: !protect, tags: config.tags }, lasting);
    const block = new aws.s3.BucketPublicAccessBlock(
      name,
      {
        bucket: bucket.id,
        blockPublicAcls: true,
        blockPublicPolicy: true,
        ignorePublicAcls: true,
        restrictPublicBuckets: true,
      },
      lasting,
    );
    new aws.s3.BucketOwnershipControls(
      name,
      { bucket: bucket.id, rule: { objectOwnership: "BucketOwnerEnforced" } },
      lasting,
    );
    new aws.s3.BucketServerSideEncryptionConfiguration(
      name,
      { bucket: bucket.id, rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }] },
      lasting,
    );
    const versioning = new aws.s3.BucketVersioning(
      name,
      { bucket: bucket.id, versioningConfiguration: { status: "Enabled" } },
      lasting,
    );
    new aws.s3.BucketLifecycleConfiguration(
      name,
      { bucket: bucket.id, rules: lifecycleRules() },
      // AWS takes rules about old versions only once there can be some.
      { ...lasting, dependsOn: versioning },
    );
    new aws.s3.BucketPolicy(
      name,
      { bucket: bucket.id, policy: pulumi.all([bucket.arn, s3EndpointId]).apply(access) },
      // Two changes of one bucket's access at the same time conflict.
      { ...parent, dependsOn: block },
    );
    this.name = bucket.bucket;
    this.registerOutputs({ name: this.name });
  }
}

function lifecycleRules(): aws.types.input.s3.BucketLifecycleConfigurationRule[] {
  return [
    {
      id: "forget-replaced-objects",
      status: "Enabled",
      filter: { prefix: "" },
      noncurrentVersionExpiration: { noncurrentDays: UNDO_DAYS },
      expiration: { expiredObjectDeleteMarker: true },
    },
    {
      id: "forget-unfinished-uploads",
      status: "Enabled",
      filter: { prefix: "" },
      abortIncompleteMultipartUpload: { daysAfterInitiation: UNDO_DAYS },
    },
  ];
}

function access([arn, s3EndpointId]: [string, string | undefined]): string {
  const programs: aws.iam.PolicyStatement = {
    Sid: "ProgramsWithinTheNetwork",
    Effect: "Allow",
    // Nobody else: S3 takes a policy with this condition for one that is not public.
    Principal: "*",
    Action: "s3:GetObject",
    Resource: `${arn}/${PROGRAMS}`,
    Condition: { StringEquals: { "aws:SourceVpce": s3EndpointId ?? "" } },
  };
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "TlsOnly",
        Effect: "Deny",
        Principal: "*",
        Action: "s3:*",
        Resource: [arn, `${arn}/*`],
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
      ...(s3EndpointId === undefined ? [] : [programs]),
    ],
  } satisfies aws.iam.PolicyDocument);
}
