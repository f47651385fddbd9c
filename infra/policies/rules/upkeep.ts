import { at, eachRule, listAt, wholeRule } from "../rule.ts";

/** Whoever looks for what is left of a stack, or what it costs, looks for these. */
const TAGS = ["spotter:stack", "spotter:project"];

/** Resources of AWS that have no tags: parts and settings of others. */
export const UNTAGGED = new Set([
  "aws:acm/certificateValidation:CertificateValidation",
  "aws:cloudfront/cachePolicy:CachePolicy",
  "aws:cloudfront/originAccessControl:OriginAccessControl",
  "aws:cloudfront/originRequestPolicy:OriginRequestPolicy",
  "aws:cloudfront/responseHeadersPolicy:ResponseHeadersPolicy",
  "aws:cloudwatch/dashboard:Dashboard",
  "aws:cloudwatch/eventTarget:EventTarget",
  "aws:cloudwatch/logMetricFilter:LogMetricFilter",
  "aws:cloudwatch/logResourcePolicy:LogResourcePolicy",
  "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation",
  "aws:ec2/route:Route",
  "aws:ec2/routeTableAssociation:RouteTableAssociation",
  "aws:ec2/securityGroupRule:SecurityGroupRule",
  "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
  "aws:ecs/clusterCapacityProviders:ClusterCapacityProviders",
  "aws:iam/rolePolicy:RolePolicy",
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig",
  "aws:lambda/functionUrl:FunctionUrl",
  "aws:lambda/permission:Permission",
  "aws:lb/targetGroupAttachment:TargetGroupAttachment",
  "aws:route53/record:Record",
  "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
  "aws:s3/bucketNotification:BucketNotification",
  "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
  "aws:s3/bucketPolicy:BucketPolicy",
  "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
  "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
  "aws:s3/bucketVersioning:BucketVersioning",
  "aws:scheduler/schedule:Schedule",
  "aws:sns/topicPolicy:TopicPolicy",
  "aws:sns/topicSubscription:TopicSubscription",
]);

const missingFrom = (tags: unknown): string[] => TAGS.filter((tag) => typeof read(tags, tag) !== "string");
/** A tag; its name has no path in it. */
const read = (tags: unknown, name: string): unknown =>
  typeof tags === "object" && tags !== null ? (tags as Record<string, unknown>)[name] : undefined;

export const everythingIsTagged = eachRule(
  "everything-is-tagged",
  "All that can have tags says of which stack it is; so do the instances and disks that it makes.",
  ({ type, props }) => {
    if (!type.startsWith("aws:") || UNTAGGED.has(type)) return [];
    switch (type) {
      case "aws:autoscaling/group:Group": {
        // Its tags are a list, and only those count that its instances get, too.
        const passedOn = listAt(props, "tags").filter((tag) => at(tag, "propagateAtLaunch") === true);
        const keys = new Set(passedOn.map((tag) => at(tag, "key")));
        return TAGS.filter((tag) => !keys.has(tag)).map((tag) => `gives its instances no tag ${tag}`);
      }
      case "aws:ec2/launchTemplate:LaunchTemplate": {
        const specifications = listAt(props, "tagSpecifications");
        const ofDisks = specifications.find((each) => at(each, "resourceType") === "volume");
        return [
          ...missingFrom(at(props, "tags")).map((tag) => `has no tag ${tag}`),
          ...missingFrom(at(ofDisks, "tags")).map((tag) => `gives its disks no tag ${tag}`),
        ];
      }
      case "aws:batch/computeEnvironment:ComputeEnvironment": {
        const makesInstances = !/^FARGATE/.test(String(at(props, "computeResources.type")));
        return [
          ...missingFrom(at(props, "tags")).map((tag) => `has no tag ${tag}`),
          ...(makesInstances ? missingFrom(at(props, "computeResources.tags")) : []).map(
            (tag) => `gives its instances no tag ${tag}`,
          ),
        ];
      }
      default:
        return missingFrom(at(props, "tags")).map((tag) => `has no tag ${tag}`);
    }
  },
);

export const logsEnd = eachRule(
  "logs-end",
  "Logs are kept for a limited time, and no function makes a log group of its own, which would be kept for ever.",
  ({ type, props }) => {
    if (type === "aws:cloudwatch/logGroup:LogGroup")
      return Number(at(props, "retentionInDays") ?? 0) > 0
        ? []
        : ["retentionInDays is not set: kept for ever"];
    if (type === "aws:lambda/function:Function")
      return at(props, "loggingConfig.logGroup") === undefined ? ["names no log group"] : [];
    return [];
  },
);

export const budgetIsThere = wholeRule(
  "budget-is-there",
  "A budget says what a month may cost.",
  (resources) =>
    resources.some(({ type }) => type === "aws:budgets/budget:Budget")
      ? []
      : [{ message: "no aws:budgets/budget:Budget, so nobody is told when it gets expensive" }],
);
