import { answers } from "./cloud-answers.ts";

export const ACCOUNT = "123456789012";
export const REGION = "eu-central-1";
/** What Pulumi puts behind the names that it makes. */
const SUFFIX = "1a2b3c4";

export interface Wanted {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
}

export interface Created {
  id: string;
  /** What AWS adds to the inputs. */
  outputs: Record<string, unknown>;
}

interface Named {
  /** The name it has in AWS: the one asked for, or one that Pulumi makes. */
  given: string;
  inputs: Record<string, unknown>;
  /** As AWS makes ids up: `vpc-0…`, the same for the same name. */
  made: (prefix: string) => string;
  arn: (service: string, resource: string) => string;
}
type Maker = (named: Named) => { id?: string } & Record<string, unknown>;

/** A name, and an ARN that ends in it; AWS takes the name for an id, too. */
const byName =
  (service: string, before: string): Maker =>
  ({ given, arn }) => ({ id: given, name: given, arn: arn(service, `${before}${given}`) });
/** The same for what has its ARN for an id. */
const byArn =
  (service: string, before: string, after = ""): Maker =>
  ({ given, arn }) => {
    const own = arn(service, `${before}${given}${after}`);
    return { id: own, name: given, arn: own };
  };
const byId =
  (prefix: string, resource: string): Maker =>
  ({ made, arn }) => {
    const id = made(prefix);
    return { id, arn: arn("ec2", `${resource}/${id}`) };
  };

/** What comes of a resource, where that is more than its inputs. ARNs have to look real: policies are made of them. */
const MAKERS: Record<string, Maker> = {
  "aws:acm/certificate:Certificate": ({ inputs, made, arn }) => ({
    id: arn("acm", `certificate/${made("")}`),
    arn: arn("acm", `certificate/${made("")}`),
    domainValidationOptions: [
      {
        domainName: inputs["domainName"],
        resourceRecordName: `_proof.${String(inputs["domainName"])}`,
        resourceRecordType: "CNAME",
        resourceRecordValue: "_proof.acm-validations.aws",
      },
    ],
  }),
  "aws:autoscaling/group:Group": ({ given, arn }) => ({
    id: given,
    name: given,
    arn: arn("autoscaling", `autoScalingGroup:0123:autoScalingGroupName/${given}`),
  }),
  "aws:batch/computeEnvironment:ComputeEnvironment": (named) => ({
    ...byArn("batch", "compute-environment/")(named),
    ecsClusterArn: named.arn("ecs", `cluster/AWSBatch-${named.given}-0123`),
  }),
  "aws:batch/jobDefinition:JobDefinition": byArn("batch", "job-definition/", ":1"),
  "aws:batch/jobQueue:JobQueue": byArn("batch", "job-queue/"),
  "aws:cloudfront/distribution:Distribution": ({ made }) => ({
    id: made("E").toUpperCase(),
    arn: `arn:aws:cloudfront::${ACCOUNT}:distribution/${made("E").toUpperCase()}`,
    domainName: "d111111abcdef8.cloudfront.net",
    hostedZoneId: "Z2FDTNDATAQYW2",
  }),
  "aws:cloudfront/function:Function": ({ given }) => ({
    id: given,
    name: given,
    arn: `arn:aws:cloudfront::${ACCOUNT}:function/${given}`,
  }),
  "aws:cloudwatch/eventRule:EventRule": byName("events", "rule/"),
  "aws:cloudwatch/logGroup:LogGroup": byName("logs", "log-group:"),
  "aws:cloudwatch/metricAlarm:MetricAlarm": byName("cloudwatch", "alarm:"),
  "aws:dynamodb/table:Table": byName("dynamodb", "table/"),
  "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway": byId(
    "eigw-",
    "egress-only-internet-gateway",
  ),
  "aws:ec2/eip:Eip": byId("eipalloc-", "elastic-ip"),
  "aws:ec2/natGateway:NatGateway": byId("nat-", "natgateway"),
  "aws:ec2/internetGateway:InternetGateway": byId("igw-", "internet-gateway"),
  "aws:ec2/launchTemplate:LaunchTemplate": ({ given, made, arn }) => ({
    id: made("lt-"),
    name: given,
    arn: arn("ec2", `launch-template/${made("lt-")}`),
    latestVersion: 1,
    defaultVersion: 1,
  }),
  "aws:ec2/placementGroup:PlacementGroup": byName("ec2", "placement-group/"),
  "aws:ec2/routeTable:RouteTable": byId("rtb-", "route-table"),
  "aws:ec2/securityGroup:SecurityGroup": byId("sg-", "security-group"),
  "aws:ec2/subnet:Subnet": byId("subnet-", "subnet"),
  "aws:ec2/vpc:Vpc": (named) => ({
    ...byId("vpc-", "vpc")(named),
    ...(named.inputs["assignGeneratedIpv6CidrBlock"] === true && {
      ipv6CidrBlock: "2a05:d014:1234:5600::/56",
    }),
  }),
  "aws:ec2/vpcEndpoint:VpcEndpoint": byId("vpce-", "vpc-endpoint"),
  "aws:ecs/capacityProvider:CapacityProvider": byArn("ecs", "capacity-provider/"),
  "aws:ecs/cluster:Cluster": byArn("ecs", "cluster/"),
  "aws:ecs/service:Service": ({ given, inputs, arn }) => {
    const cluster = String(inputs["cluster"]).split("/").at(-1);
    const own = arn("ecs", `service/${cluster}/${given}`);
    return { id: own, arn: own, name: given };
  },
  "aws:ecs/taskDefinition:TaskDefinition": ({ inputs, arn }) => {
    const family = String(inputs["family"]);
    const own = arn("ecs", `task-definition/${family}:1`);
    return { id: family, arn: own, arnWithoutRevision: own.replace(/:1$/, ""), revision: 1 };
  },
  "aws:iam/instanceProfile:InstanceProfile": ({ given }) => ({
    id: given,
    name: given,
    arn: `arn:aws:iam::${ACCOUNT}:instance-profile/${given}`,
  }),
  "aws:iam/role:Role": ({ given }) => ({
    id: given,
    name: given,
    arn: `arn:aws:iam::${ACCOUNT}:role/${given}`,
    uniqueId: "AROA0123456789",
  }),
  "aws:lambda/function:Function": byName("lambda", "function:"),
  "aws:lambda/functionUrl:FunctionUrl": ({ inputs }) => {
    const functionName = String(inputs["functionName"]);
    return { id: functionName, functionUrl: `https://${functionName}.lambda-url.${REGION}.on.aws/` };
  },
  "aws:lb/listener:Listener": byArn("elasticloadbalancing", "listener/app/"),
  "aws:lb/loadBalancer:LoadBalancer": ({ given, arn }) => {
    const suffix = `app/${given}/0123456789abcdef`;
    const own = arn("elasticloadbalancing", `loadbalancer/${suffix}`);
    const dnsName = `${given}-0123456789.${REGION}.elb.amazonaws.com`;
    return { id: own, arn: own, arnSuffix: suffix, name: given, dnsName, zoneId: "Z215JYRZR1TBD5" };
  },
  "aws:lb/targetGroup:TargetGroup": ({ given, arn }) => {
    const suffix = `targetgroup/${given}/0123456789abcdef`;
    const own = arn("elasticloadbalancing", suffix);
    return { id: own, arn: own, arnSuffix: suffix, name: given };
  },
  "aws:route53/record:Record": ({ inputs }) => ({ fqdn: inputs["name"] }),
  "aws:s3/bucket:Bucket": ({ given }) => ({
    id: given,
    bucket: given,
    arn: `arn:aws:s3:::${given}`,
    bucketRegionalDomainName: `${given}.s3.${REGION}.amazonaws.com`,
  }),
  "aws:sns/topic:Topic": byArn("sns", ""),
  "aws:ssm/parameter:Parameter": ({ inputs, arn }) => {
    const name = String(inputs["name"]);
    return { id: name, arn: arn("ssm", `parameter${name}`), version: 1 };
  },
  "random:index/randomPassword:RandomPassword": ({ inputs }) => ({
    id: "none",
    result: "not-so-random-".repeat(10).slice(0, Number(inputs["length"])),
  }),
};

/** A stand-in for AWS behind its provider: what it makes of inputs, and what it answers when asked. */
export const cloud = {
  created({ type, name, inputs }: Wanted): Created {
    const asked = inputs["name"] ?? inputs["bucket"];
    const given = typeof asked === "string" ? asked : `${name}-${SUFFIX}`;
    const region = typeof inputs["region"] === "string" ? inputs["region"] : REGION;
    const maker: Maker = MAKERS[type] ?? (() => ({ name: given }));
    const { id = `${name}-id`, ...outputs } = maker({
      given,
      inputs,
      made: (prefix) => `${prefix}${hexOf(name)}`,
      arn: (service, resource) => `arn:aws:${service}:${region}:${ACCOUNT}:${resource}`,
    });
    return { id, outputs };
  },

  /** @throws Error for a function that is not in the table. */
  asked(token: string, args: Record<string, unknown>): Record<string, unknown> {
    const answer = answers[token];
    if (answer === undefined) throw new Error(`The stand-in for AWS does not know ${token}.`);
    return answer(args);
  },
};

function hexOf(name: string): string {
  const sum = [...name].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0, 7);
  return `0${sum.toString(16).padStart(16, "0")}`;
}
