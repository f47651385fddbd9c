import { PLAIN_HTTP } from "../reasons.ts";
import { at, eachRule, jsonAt, listAt, wholeRule, type Resource } from "../rule.ts";

const BUCKET = "aws:s3/bucket:Bucket";
const BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock";
const OWNERSHIP = "aws:s3/bucketOwnershipControls:BucketOwnershipControls";
const ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration";
const POLICY = "aws:s3/bucketPolicy:BucketPolicy";
const BLOCKS = ["blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"];

/**
 * What is set for a bucket lies in resources of their own. They are found by the bucket's name and place, which they
 * share: the name it has in AWS is not known before it is there.
 */
function besideBucket(resources: readonly Resource[], type: string, bucket: Resource): Resource[] {
  return resources.filter((each) => each.type === type && placeOf(each) === placeOf(bucket));
}

function placeOf({ urn, name }: Resource): string {
  const above = (urn.split("::")[2] ?? "").split("$").slice(0, -1);
  return [...above, name].join("$");
}

export const bucketsArePrivate = wholeRule(
  "buckets-are-private",
  "No bucket can be made public, by lists or by policies.",
  (resources) => [
    ...resources
      .filter(({ type }) => type === BUCKET)
      .filter((bucket) => {
        const blocks = besideBucket(resources, BLOCK, bucket);
        return !blocks.some(({ props }) => BLOCKS.every((each) => at(props, each) === true));
      })
      .map((resource) => ({ resource, message: `needs a ${BLOCK} that blocks all four ways to be public` })),
    ...resources
      .filter(({ type }) => type === BUCKET)
      .filter((bucket) => {
        const controls = besideBucket(resources, OWNERSHIP, bucket);
        return !controls.some(({ props }) => at(props, "rule.objectOwnership") === "BucketOwnerEnforced");
      })
      .map((resource) => ({ resource, message: `needs a ${OWNERSHIP} with BucketOwnerEnforced` })),
    ...resources
      .filter(({ type }) => type === "aws:s3/bucketAcl:BucketAcl")
      .map((resource) => ({ resource, message: "is a list of access; use a policy" })),
  ],
);

export const bucketsAreEncrypted = wholeRule(
  "buckets-are-encrypted",
  "Every bucket says how it encrypts.",
  (resources) =>
    resources
      .filter(({ type }) => type === BUCKET)
      .filter((bucket) => {
        const found = besideBucket(resources, ENCRYPTION, bucket).flatMap(({ props }) =>
          listAt(props, "rules"),
        );
        return !found.some(
          (rule) => at(rule, "applyServerSideEncryptionByDefault.sseAlgorithm") !== undefined,
        );
      })
      .map((resource) => ({ resource, message: `needs a ${ENCRYPTION}` })),
);

export const disksAreEncrypted = eachRule(
  "disks-and-tables-are-encrypted",
  "Tables, disks and file systems are encrypted.",
  ({ type, props }) => {
    switch (type) {
      case "aws:dynamodb/table:Table":
        return at(props, "serverSideEncryption.enabled") === true
          ? []
          : ["serverSideEncryption is not enabled"];
      case "aws:ebs/volume:Volume":
      case "aws:efs/fileSystem:FileSystem":
        return at(props, "encrypted") === true ? [] : ["is not encrypted"];
      case "aws:ec2/launchTemplate:LaunchTemplate": {
        const disks = listAt(props, "blockDeviceMappings").filter((disk) => at(disk, "ebs") !== undefined);
        // Without a disk of its own it takes the image's, of which nobody knows.
        if (disks.length === 0) return ["names no disk, so nothing says that it is encrypted"];
        return disks.flatMap((disk) =>
          String(at(disk, "ebs.encrypted")) === "true"
            ? []
            : [`${String(at(disk, "deviceName"))} is not encrypted`],
        );
      }
      default:
        return [];
    }
  },
);

const refusesPlainHttp = (policy: Resource): boolean =>
  listAt(jsonAt(policy.props, "policy"), "Statement").some(
    (statement) =>
      at(statement, "Effect") === "Deny" &&
      listAt(statement, "Action").includes("s3:*") &&
      at(statement, "Principal") === "*" &&
      at(at(statement, "Condition.Bool"), "aws:SecureTransport") === "false",
  );

export const bucketsNeedTls = wholeRule(
  "buckets-need-tls",
  "Every bucket refuses requests without TLS.",
  (resources) =>
    resources
      .filter(({ type }) => type === BUCKET)
      .filter((bucket) => !besideBucket(resources, POLICY, bucket).some(refusesPlainHttp))
      .map((resource) => ({
        resource,
        message: `needs a ${POLICY} that denies where aws:SecureTransport is false`,
      })),
);

const OLD_TLS = /^(SSLv3|TLSv1|TLSv1_2016|TLSv1\.1_2016)$/;

export const frontDoorsNeedTls = eachRule(
  "front-doors-need-tls",
  "What answers to the internet speaks TLS 1.2 or newer, and so does what it asks.",
  ({ type, name, props }) => {
    if (type === "aws:lb/listener:Listener") {
      const isPlain = at(props, "protocol") === "HTTP";
      return isPlain && PLAIN_HTTP[name] === undefined
        ? ["speaks plain HTTP, and reasons.ts has no reason"]
        : [];
    }
    if (type !== "aws:cloudfront/distribution:Distribution") return [];
    const behaviors = [...listAt(props, "defaultCacheBehavior"), ...listAt(props, "orderedCacheBehaviors")];
    const origins = listAt(props, "origins").filter(
      (origin) => at(origin, "customOriginConfig") !== undefined,
    );
    const version = at(props, "viewerCertificate.minimumProtocolVersion");
    return [
      ...behaviors
        .filter((each) => at(each, "viewerProtocolPolicy") === "allow-all")
        .map((each) => at(each, "pathPattern"))
        .map((path) => `${typeof path === "string" ? path : "everything else"} answers plain HTTP`),
      ...origins
        .filter((each) => at(each, "customOriginConfig.originProtocolPolicy") !== "https-only")
        .map((each) => String(at(each, "originId")))
        .filter((id) => PLAIN_HTTP[id] === undefined)
        .map((id) => `asks ${id} by plain HTTP, and reasons.ts has no reason`),
      ...(typeof version === "string" && OLD_TLS.test(version) ? [`speaks ${version}`] : []),
    ];
  },
);
