import { beforeAll, describe, expect, it } from "vitest";
import { cloud } from "./engine/cloud.ts";
import { Graph } from "./graph.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

const EVERYTHING = {
  "spotter:gpuClasses": '["L4:1","L4:4","H100:8"]',
  "spotter:multiNode": "H100:8=2",
  "spotter:domain": "gym.example.com",
  "spotter:hostedZoneId": "Z0123456789ABCDEFGHIJ",
  "spotter:budgetEmail": "me@example.com",
};
const BUCKET = "aws:s3/bucket:Bucket";
const TABLE = "aws:dynamodb/table:Table";
const CLUSTER = "aws:ecs/cluster:Cluster";
const ATTACHED = "aws:ecs/clusterCapacityProviders:ClusterCapacityProviders";
const PROVIDER = "aws:ecs/capacityProvider:CapacityProvider";
const GROUP = "aws:autoscaling/group:Group";
const TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate";
const SUBNET = "aws:ec2/subnet:Subnet";
const SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup";
const ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy";
const SERVICE = "aws:ecs/service:Service";
const QUEUE = "aws:batch/jobQueue:JobQueue";
const ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment";
const FUNCTION = "aws:lambda/function:Function";

describe.each([{ gateway: "fargate" }, { gateway: "lambda" }])(
  "with the gateway on $gateway",
  ({ gateway }) => {
    let stack: Recorded[];
    let graph: Graph;
    beforeAll(async () => {
      ({ resources: stack } = await recordStack({ ...EVERYTHING, "spotter:gateway": gateway }));
      graph = new Graph(stack);
    }, 60_000);

    it.each([
      // A cluster does not go while providers are attached, a provider not while it is attached, a group not while a
      // provider manages it: without this order they wait for each other until the deployment gives up.
      [ATTACHED, PROVIDER],
      [ATTACHED, CLUSTER],
      [PROVIDER, GROUP],
      [GROUP, TEMPLATE],
      [GROUP, CLUSTER],
      [GROUP, SUBNET],
      [GROUP, SECURITY_GROUP],
      // Batch empties a queue before its environment goes.
      [QUEUE, ENVIRONMENT],
      [ENVIRONMENT, SUBNET],
      [ENVIRONMENT, SECURITY_GROUP],
      [FUNCTION, ROLE_POLICY],
      [FUNCTION, "aws:cloudwatch/logGroup:LogGroup"],
      ["aws:cloudwatch/eventTarget:EventTarget", FUNCTION],
      ["aws:lambda/functionUrl:FunctionUrl", FUNCTION],
      ["aws:cloudfront/distribution:Distribution", "aws:lambda/functionUrl:FunctionUrl"],
      ["aws:cloudfront/distribution:Distribution", "aws:acm/certificateValidation:CertificateValidation"],
      ["aws:iam/instanceProfile:InstanceProfile", "aws:iam/role:Role"],
      ["aws:s3/bucketPolicy:BucketPolicy", BUCKET],
      [SUBNET, "aws:ec2/vpc:Vpc"],
      ...(gateway === "fargate"
        ? [
            [SERVICE, CLUSTER],
            // Its tasks stop and say so with the rights of their roles.
            [SERVICE, ROLE_POLICY],
            [SERVICE, "aws:lb/listener:Listener"],
            [SERVICE, "aws:lb/targetGroup:TargetGroup"],
          ]
        : []),
    ])("ends %s before %s", (first, then) => {
      expect(graph.all(first).length, first).toBeGreaterThan(0);
      const late = graph
        .all(first)
        .filter((each) => !graph.all(then).some((other) => graph.goesBefore(each, other)));
      expect(late.map(({ urn }) => urn)).toEqual([]);
    });

    it("attaches all providers at once, so that none is left attached", () => {
      const [attached, ...others] = graph.all(ATTACHED);
      expect(others).toEqual([]);
      for (const provider of graph.all(PROVIDER))
        expect(attached !== undefined && graph.goesBefore(attached, provider), provider.urn).toBe(true);
    });

    it("ends the hosts of a group with it", () => {
      for (const group of graph.all(GROUP)) expect(group.inputs["forceDelete"], group.urn).toBe(true);
    });

    it("ends whatever names another before that other", () => {
      const made = stack
        .filter(({ custom }) => custom)
        .flatMap((each) => valuesOf(each).map((value) => ({ each, value })));
      const counts = Map.groupBy(made, ({ value }) => value);
      // A role and a load balancer may have the same name; then it says nothing of which one is meant.
      const clear = made.filter(({ value }) => counts.get(value)?.length === 1);
      expect(clear.length).toBeGreaterThan(50);
      const wrong = stack.flatMap((user) => {
        const words = new Set(JSON.stringify(user.inputs).match(WORD));
        return clear
          .filter(({ each, value }) => each.urn !== user.urn && words.has(value))
          .filter(({ each }) => !graph.goesBefore(user, each))
          .map(({ each, value }) => `${user.type} ${user.name} names ${value} of ${each.type} ${each.name}`);
      });
      expect(wrong).toEqual([]);
    });

    it("gives no two resources of a type the same name", () => {
      const named = stack
        .filter(({ inputs, custom }) => custom && typeof inputs["name"] === "string")
        .filter(({ type }) => type !== "aws:route53/record:Record")
        .map(({ type, inputs }) => `${type} ${String(inputs["name"])}`);
      expect(named.filter((each, index) => named.indexOf(each) !== index)).toEqual([]);
    });
  },
);

describe("data", () => {
  it("is kept by default: the bucket and the table refuse to be destroyed", async () => {
    const graph = new Graph((await recordStack()).resources);
    for (const type of [BUCKET, TABLE]) expect(graph.all(type).map(({ protect }) => protect)).toEqual([true]);
    expect(graph.all(TABLE)[0]?.inputs["deletionProtectionEnabled"]).toBe(true);
    expect(graph.all(BUCKET)[0]?.inputs["forceDestroy"]).toBe(false);
  }, 60_000);

  it("goes with the rest if the stack says so, also when there is something in it", async () => {
    const { resources } = await recordStack({ "spotter:removal": "destroy" });
    const graph = new Graph(resources);
    expect(resources.filter(({ protect }) => protect)).toEqual([]);
    expect(graph.all(TABLE)[0]?.inputs["deletionProtectionEnabled"]).toBe(false);
    expect(graph.all(BUCKET)[0]?.inputs["forceDestroy"]).toBe(true);
  }, 60_000);
});

/** Names, ids and ARNs, also within texts. */
const WORD = /[\w.:/-]+/g;

/** What AWS made up for a resource; what has a name that the program gave is known without it. */
function valuesOf({ type, name, inputs }: Recorded): string[] {
  if (inputs["name"] !== undefined) return [];
  const { id, outputs } = cloud.created({ type, name, inputs });
  const given = new Set(Object.values(inputs));
  const values = [id, outputs["arn"], outputs["dnsName"]].filter((value) => typeof value === "string");
  return [...new Set(values)].filter(
    (value) => value.length > 8 && value !== `${name}-id` && !given.has(value),
  );
}
