import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { billingOf } from "../../../../sdk/cli/aws/resource-kinds.ts";

/** How the tagging API calls what Pulumi makes. */
const KINDS: Readonly<Record<string, string>> = {
  "aws:acm/certificate:Certificate": "acm:certificate",
  "aws:autoscaling/group:Group": "autoscaling:autoScalingGroup",
  "aws:batch/computeEnvironment:ComputeEnvironment": "batch:compute-environment",
  "aws:batch/jobDefinition:JobDefinition": "batch:job-definition",
  "aws:batch/jobQueue:JobQueue": "batch:job-queue",
  "aws:budgets/budget:Budget": "budgets:budget",
  "aws:cloudfront/distribution:Distribution": "cloudfront:distribution",
  "aws:cloudfront/function:Function": "cloudfront:function",
  "aws:cloudwatch/eventRule:EventRule": "events:rule",
  "aws:cloudwatch/logGroup:LogGroup": "logs:log-group",
  "aws:cloudwatch/metricAlarm:MetricAlarm": "cloudwatch:alarm",
  "aws:dynamodb/table:Table": "dynamodb:table",
  "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway": "ec2:egress-only-internet-gateway",
  "aws:ec2/eip:Eip": "ec2:elastic-ip",
  "aws:ec2/internetGateway:InternetGateway": "ec2:internet-gateway",
  "aws:ec2/launchTemplate:LaunchTemplate": "ec2:launch-template",
  "aws:ec2/natGateway:NatGateway": "ec2:natgateway",
  "aws:ec2/placementGroup:PlacementGroup": "ec2:placement-group",
  "aws:ec2/routeTable:RouteTable": "ec2:route-table",
  "aws:ec2/securityGroup:SecurityGroup": "ec2:security-group",
  "aws:ec2/subnet:Subnet": "ec2:subnet",
  "aws:ec2/vpc:Vpc": "ec2:vpc",
  "aws:ec2/vpcEndpoint:VpcEndpoint": "ec2:vpc-endpoint",
  "aws:ecs/capacityProvider:CapacityProvider": "ecs:capacity-provider",
  "aws:ecs/cluster:Cluster": "ecs:cluster",
  "aws:ecs/service:Service": "ecs:service",
  "aws:ecs/taskDefinition:TaskDefinition": "ecs:task-definition",
  "aws:iam/instanceProfile:InstanceProfile": "iam:instance-profile",
  "aws:iam/role:Role": "iam:role",
  "aws:lambda/function:Function": "lambda:function",
  "aws:lb/listener:Listener": "elasticloadbalancing:listener",
  "aws:lb/loadBalancer:LoadBalancer": "elasticloadbalancing:loadbalancer",
  "aws:lb/targetGroup:TargetGroup": "elasticloadbalancing:targetgroup",
  "aws:s3/bucket:Bucket": "s3:bucket",
  "aws:sns/topic:Topic": "sns:topic",
  "aws:ssm/parameter:Parameter": "ssm:parameter",
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "ec2:security-group-rule",
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "ec2:security-group-rule",
};

/** Parts of others, which go with them and have no tags. */
const PARTS =
  /^aws:(s3\/bucket\w+|iam\/role\w+|lambda\/(function\w+|permission)|ec2\/(route|routeTableAssociation|defaultSecurityGroup)|sns\/topicPolicy|ecs\/clusterCapacityProviders|cloudwatch\/eventTarget|route53\/\w+|acm\/certificateValidation):/;

describe("the kinds of what a stack is made of", () => {
  it("have a billing that is known, each of them", () => {
    const folder = join(import.meta.dirname, "../../../infra/snapshots");
    const text = ["fargate.txt", "lambda.txt"]
      .map((file) => readFileSync(join(folder, file), "utf8"))
      .join("\n");
    const types = new Set(text.match(/aws:[\w/]+:\w+/g));
    expect(types.size).toBeGreaterThan(30);
    const whole = [...types].filter((type) => !PARTS.test(type));
    expect(whole.filter((type) => KINDS[type] === undefined)).toEqual([]);
    expect(Object.values(KINDS).filter((kind) => billingOf(kind) === "unknown")).toEqual([]);
  });
});
