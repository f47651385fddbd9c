import type { Resource } from "../../infra/policies/rule.ts";

/** Resources that break a rule, and what is said of them. */
export interface Violation {
  rule: string;
  resources: Resource[];
  message: RegExp;
}

const TAGS = { "spotter:stack": "test", "spotter:project": "spotter" };

function one(type: string, props: Record<string, unknown>, name = "bad"): Resource {
  return { type, name, props, urn: `urn:pulumi:test::spotter::spotter:index:Part$${type}::${name}` };
}
function breaks(rule: string, message: RegExp, ...resources: Resource[]): Violation {
  return { rule, message, resources };
}
const bucket = one("aws:s3/bucket:Bucket", {});
const allows = (statement: Record<string, unknown>) =>
  one("aws:iam/rolePolicy:RolePolicy", {
    policy: JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", ...statement }] }),
  });
const ARN = "arn:aws:s3:::data/*";
const distribution = (props: Record<string, unknown>) =>
  one("aws:cloudfront/distribution:Distribution", {
    defaultCacheBehavior: { viewerProtocolPolicy: "redirect-to-https" },
    origins: [],
    ...props,
  });
const template = (props: Record<string, unknown>) =>
  one("aws:ec2/launchTemplate:LaunchTemplate", {
    metadataOptions: { httpTokens: "required" },
    blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { encrypted: "true" } }],
    tags: TAGS,
    tagSpecifications: [{ resourceType: "volume", tags: TAGS }],
    ...props,
  });
const containers = (containers: unknown) => JSON.stringify(containers);

/** At least one for every rule, so that none holds because it looks at nothing. */
export const VIOLATIONS: Violation[] = [
  breaks("buckets-are-private", /BucketPublicAccessBlock/, bucket),
  breaks(
    "buckets-are-private",
    /all four ways/,
    bucket,
    one("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", {
      blockPublicAcls: true,
      blockPublicPolicy: false,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    }),
  ),
  breaks("buckets-are-private", /BucketOwnerEnforced/, bucket),
  breaks("buckets-are-private", /list of access/, one("aws:s3/bucketAcl:BucketAcl", { acl: "public-read" })),
  breaks("buckets-are-encrypted", /ServerSideEncryption/, bucket),
  breaks("buckets-need-tls", /aws:SecureTransport/, bucket),
  breaks(
    "buckets-need-tls",
    /denies/,
    bucket,
    one("aws:s3/bucketPolicy:BucketPolicy", {
      policy: JSON.stringify({
        Statement: [
          {
            Effect: "Allow",
            Principal: "*",
            Action: "s3:*",
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          },
        ],
      }),
    }),
  ),
  breaks("disks-and-tables-are-encrypted", /serverSideEncryption/, one("aws:dynamodb/table:Table", {})),
  breaks(
    "disks-and-tables-are-encrypted",
    /\/dev\/xvdb is not encrypted/,
    template({ blockDeviceMappings: [{ deviceName: "/dev/xvdb", ebs: { volumeSize: 10 } }] }),
  ),
  breaks("disks-and-tables-are-encrypted", /names no disk/, template({ blockDeviceMappings: undefined })),
  breaks(
    "front-doors-need-tls",
    /everything else answers plain HTTP/,
    distribution({ defaultCacheBehavior: { viewerProtocolPolicy: "allow-all" } }),
  ),
  breaks(
    "front-doors-need-tls",
    /asks unknown by plain HTTP/,
    distribution({
      origins: [{ originId: "unknown", customOriginConfig: { originProtocolPolicy: "http-only" } }],
    }),
  ),
  breaks(
    "front-doors-need-tls",
    /speaks TLSv1/,
    distribution({ viewerCertificate: { minimumProtocolVersion: "TLSv1" } }),
  ),
  breaks("front-doors-need-tls", /plain HTTP/, one("aws:lb/listener:Listener", { protocol: "HTTP" })),
  breaks("no-wide-actions", /allows s3:\*/, allows({ Action: ["s3:GetObject", "s3:*"], Resource: ARN })),
  breaks("no-wide-actions", /ecs:Describe\*/, allows({ Action: "ecs:Describe*", Resource: ARN })),
  breaks("no-wide-actions", /all but/, allows({ NotAction: "iam:*", Resource: ARN })),
  breaks(
    "no-wide-actions",
    /allows \*/,
    one("aws:iam/role:Role", {
      inlinePolicies: [
        { policy: JSON.stringify({ Statement: { Effect: "Allow", Action: "*", Resource: ARN } }) },
      ],
    }),
  ),
  breaks(
    "no-wide-resources",
    /allows s3:GetObject on all resources/,
    allows({ Action: ["batch:ListJobs", "s3:GetObject"], Resource: "*" }),
  ),
  breaks(
    "no-wide-resources",
    /without the condition ecs:cluster/,
    allows({ Action: "ecs:ListTasks", Resource: "*" }),
  ),
  breaks(
    "no-open-doors",
    /lets everybody do sts:AssumeRole/,
    one("aws:iam/role:Role", {
      assumeRolePolicy: JSON.stringify({
        Statement: [{ Effect: "Allow", Principal: { AWS: "*" }, Action: "sts:AssumeRole" }],
      }),
    }),
  ),
  breaks(
    "no-administrators",
    /AdministratorAccess/,
    one("aws:iam/rolePolicyAttachment:RolePolicyAttachment", {
      policyArn: "arn:aws:iam::aws:policy/AdministratorAccess",
    }),
  ),
  breaks(
    "no-administrators",
    /AmazonS3FullAccess/,
    one("aws:iam/role:Role", { managedPolicyArns: ["arn:aws:iam::aws:policy/AmazonS3FullAccess"] }),
  ),
  breaks("no-nat-gateways", /gateway endpoints/, one("aws:ec2/natGateway:NatGateway", {})),
  breaks(
    "no-open-ingress",
    /lets in 0\.0\.0\.0\/0/,
    one("aws:ec2/securityGroup:SecurityGroup", { ingress: [{ cidrBlocks: ["0.0.0.0/0"] }] }),
  ),
  breaks(
    "no-open-ingress",
    /lets in ::\/0/,
    one("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", { cidrIpv6: "::/0" }),
  ),
  breaks(
    "no-open-ingress",
    /lets in 0\.0\.0\.0\/0/,
    one("aws:ec2/securityGroupRule:SecurityGroupRule", { type: "ingress", cidrBlocks: ["0.0.0.0/0"] }),
  ),
  breaks(
    "instances-need-tokens",
    /httpTokens "required"/,
    template({ metadataOptions: { httpTokens: "optional" } }),
  ),
  breaks(
    "images-are-pinned",
    /runs node:24/,
    one("aws:ecs/taskDefinition:TaskDefinition", {
      containerDefinitions: containers([{ name: "spotter", image: "node:24" }]),
    }),
  ),
  breaks(
    "images-are-pinned",
    /runs slime:latest/,
    one("aws:batch/jobDefinition:JobDefinition", {
      containerProperties: containers({ image: "slime:latest" }),
    }),
  ),
  breaks(
    "images-are-pinned",
    /runs miles:1/,
    one("aws:batch/jobDefinition:JobDefinition", {
      nodeProperties: containers({ nodeRangeProperties: [{ container: { image: "miles:1" } }] }),
    }),
  ),
  breaks(
    "images-are-pinned",
    /runs vllm:1/,
    one("aws:batch/jobDefinition:JobDefinition", {
      ecsProperties: containers({ taskProperties: [{ containers: [{ image: "vllm:1" }] }] }),
    }),
  ),
  breaks(
    "images-are-pinned",
    /x:latest/,
    one("aws:lambda/function:Function", { imageUri: "123.dkr.ecr/x:latest" }),
  ),
  breaks(
    "hosts-keep-their-role",
    /runs as undefined/,
    one("aws:ecs/taskDefinition:TaskDefinition", {
      requiresCompatibilities: ["EC2"],
      containerDefinitions: containers([{ image: "x" }]),
    }),
  ),
  breaks(
    "hosts-keep-their-role",
    /runs as 0:0/,
    one("aws:batch/jobDefinition:JobDefinition", {
      platformCapabilities: ["EC2"],
      containerProperties: containers({ user: "0:0" }),
    }),
  ),
  breaks(
    "hosts-keep-their-role",
    /is root and may leave the group/,
    one("aws:batch/jobDefinition:JobDefinition", {
      platformCapabilities: ["EC2"],
      nodeProperties: containers({
        nodeRangeProperties: [{ container: { user: "0:1000", command: ["python3", "-c", "setgid"] } }],
      }),
    }),
  ),
  breaks("pools-go-to-zero", /minSize is 1/, one("aws:autoscaling/group:Group", { minSize: 1 })),
  breaks(
    "pools-go-to-zero",
    /desiredCapacity is 2/,
    one("aws:autoscaling/group:Group", { minSize: 0, desiredCapacity: 2 }),
  ),
  breaks(
    "pools-go-to-zero",
    /minVcpus is 8/,
    one("aws:batch/computeEnvironment:ComputeEnvironment", { computeResources: { minVcpus: 8 } }),
  ),
  breaks(
    "pools-can-be-destroyed",
    /managedTerminationProtection/,
    one("aws:ecs/capacityProvider:CapacityProvider", {
      autoScalingGroupProvider: { managedTerminationProtection: "ENABLED" },
    }),
  ),
  breaks("pools-can-be-destroyed", /forceDelete is off/, one("aws:autoscaling/group:Group", {})),
  breaks("pools-can-be-destroyed", /disableApiTermination/, template({ disableApiTermination: true })),
  breaks(
    "everything-is-tagged",
    /no tag spotter:project/,
    one("aws:sqs/queue:Queue", { tags: { "spotter:stack": "test" } }),
  ),
  breaks(
    "everything-is-tagged",
    /gives its instances no tag spotter:stack/,
    one("aws:autoscaling/group:Group", { tags: [{ key: "spotter:stack", value: "test" }] }),
  ),
  breaks("everything-is-tagged", /gives its disks no tag spotter:stack/, template({ tagSpecifications: [] })),
  breaks(
    "everything-is-tagged",
    /gives its instances no tag spotter:stack/,
    one("aws:batch/computeEnvironment:ComputeEnvironment", {
      tags: TAGS,
      computeResources: { type: "EC2" },
    }),
  ),
  breaks("logs-end", /kept for ever/, one("aws:cloudwatch/logGroup:LogGroup", {})),
  breaks("logs-end", /no log group/, one("aws:lambda/function:Function", {})),
  breaks("budget-is-there", /nobody is told/),
];

/** Break nothing: what the rules take for right where a stack of this project has no example. */
export const RIGHT: Resource[] = [
  template({}),
  one("aws:autoscaling/group:Group", {
    minSize: 0,
    forceDelete: true,
    tags: Object.entries(TAGS).map(([key, value]) => ({ key, value, propagateAtLaunch: true })),
  }),
  distribution({ tags: TAGS }),
  allows({
    Action: "ecs:ListTasks",
    Resource: "*",
    Condition: { ArnEquals: { "ecs:cluster": "arn:aws:ecs:eu-central-1:123456789012:cluster/one" } },
  }),
  one("aws:ec2/securityGroupRule:SecurityGroupRule", {
    type: "egress",
    cidrBlocks: ["0.0.0.0/0"],
    tags: TAGS,
  }),
  one("aws:budgets/budget:Budget", { tags: TAGS }),
];
