import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import { beforeAll, describe, expect, it } from "vitest";
import { DRAIN_TIMES } from "../../functions/gateway/drain.ts";
import { IDLE_CONNECTION_MS } from "../../functions/gateway/front-door.ts";
import { gatewaySettings } from "../../functions/aws/gateway-settings.ts";
import type { StackNames } from "../../infra/components/roles.ts";
import { recordComponents, type Components } from "./record-components.ts";

const PROGRAM = {
  url: "https://data-1a2b3c4.s3.eu-central-1.amazonaws.com/programs/gateway-0123456789abcdef.tar.gz",
  sha256: "0".repeat(64),
  entry: "index.mjs",
};
const SECRET = "arn:aws:ssm:eu-central-1:123456789012:parameter/spotter/test/origin-secret";
const NAMES = {
  ...{
    partition: "aws",
    region: "eu-central-1",
    account: "123456789012",
    stack: "test",
    table: "state-1a2b3c4",
  },
  ...{ bucket: "data-1a2b3c4", reconciler: "spotter-test-reconciler", scaler: "spotter-test-scaler" },
} as StackNames;

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { LoadBalancer } = await import("../../infra/components/load-balancer.ts");
    const { Gateway } = await import("../../infra/components/gateway.ts");
    const subnetIds = ["subnet-1", "subnet-2"];
    const balancer = new LoadBalancer("gateway", { vpcId: "vpc-1", subnetIds }, config);
    new Gateway(
      "gateway",
      {
        clusterArn: "arn:aws:ecs:eu-central-1:123456789012:cluster/spotter-test",
        subnetIds,
        securityGroupId: "sg-of-the-network",
        balancer,
        program: PROGRAM,
        names: NAMES,
        variables: {
          SPOTTER_VERSION: "1.2.3",
          SPOTTER_STACK: "test",
          SPOTTER_TABLE: "state-1a2b3c4",
          SPOTTER_URL: "https://d111111abcdef8.cloudfront.net",
          SPOTTER_RECONCILER_FUNCTION: "spotter-test-reconciler",
        },
        originSecretArn: SECRET,
      },
      config,
    );
    return {};
  });

let stack: Components;
let container: ContainerDefinition;
beforeAll(async () => {
  stack = await record();
  const task = stack.only("aws:ecs/taskDefinition:TaskDefinition").inputs;
  [container = {}] = JSON.parse(String(task["containerDefinitions"])) as ContainerDefinition[];
}, 60_000);

describe("the load balancer", () => {
  it("lets in CloudFront and nobody else", () => {
    const rules = stack.all("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule");
    const group = String(stack.only("aws:lb/loadBalancer:LoadBalancer").inputs["securityGroups"]);
    const entering = rules.filter(({ inputs }) => inputs["securityGroupId"] === group);
    expect(entering.map(({ inputs }) => inputs)).toMatchObject([
      { prefixListId: "pl-0123456789abcdef0", ipProtocol: "tcp", fromPort: 80, toPort: 80 },
    ]);
    expect(JSON.stringify(rules)).not.toContain("0.0.0.0/0");
  });

  it("waits through long silences, and asks the gateway whether it is well", () => {
    expect(stack.only("aws:lb/loadBalancer:LoadBalancer").inputs["idleTimeout"]).toBe(4000);
    // Or it sends a request into a connection that the gateway has just closed.
    expect(IDLE_CONNECTION_MS).toBeGreaterThan(4_000_000);
    expect(stack.only("aws:lb/targetGroup:TargetGroup").inputs).toMatchObject({
      targetType: "ip",
      port: 8080,
      deregistrationDelay: 120,
      healthCheck: { path: "/health" },
    });
  });

  it("has a certificate and a name of its own where there is a domain", async () => {
    const own = await record({ domain: "gym.example.com", hostedZoneId: "Z0123456789ABC" });
    expect(own.only("aws:lb/listener:Listener").inputs).toMatchObject({
      port: 443,
      protocol: "HTTPS",
      sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06",
    });
    expect(own.only("aws:acm/certificate:Certificate").inputs["domainName"]).toBe("origin.gym.example.com");
    const names = own.all("aws:route53/record:Record").map(({ inputs }) => inputs["name"]);
    expect(names).toContain("origin.gym.example.com");
    const entry = own.only(
      "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
      "gateway-from-cloudfront",
    );
    expect(entry.inputs["fromPort"]).toBe(443);
  });
});

describe("the gateway", () => {
  it("runs from Node's own image, by digest, as what its command fetches", () => {
    expect(container.image).toMatch(/node@sha256:[0-9a-f]{64}$/);
    expect(container.command?.slice(0, 3)).toEqual(["node", "--input-type=module", "--eval"]);
    expect(container.environment).toEqual(
      expect.arrayContaining([
        { name: "SPOTTER_PROGRAM_URL", value: PROGRAM.url },
        { name: "SPOTTER_PROGRAM_SHA256", value: PROGRAM.sha256 },
        { name: "SPOTTER_PROGRAM_ENTRY", value: "index.mjs" },
      ]),
    );
  });

  it("gets settings that it understands, and its secret by reference", () => {
    const environment = Object.fromEntries(
      (container.environment ?? []).map(({ name = "", value = "" }) => [name, value]),
    );
    expect(gatewaySettings(environment)).toMatchObject({ port: 8080, holds: { jsonMs: 110_000 } });
    expect(environment).toMatchObject({ SPOTTER_RECONCILER_FUNCTION: "spotter-test-reconciler" });
    expect(container.secrets).toEqual([{ name: "SPOTTER_ORIGIN_SECRET", valueFrom: SECRET }]);
    expect(Object.keys(environment)).not.toContain("SPOTTER_ORIGIN_SECRET");
  });

  it("has time to finish what is under way", () => {
    const ownMs = DRAIN_TIMES.acceptMs + DRAIN_TIMES.finishMs;
    expect((container.stopTimeout ?? 0) * 1000).toBeGreaterThan(ownMs);
  });

  it("is one small ARM container, as its cost is told, replaced only by one that is well", () => {
    expect(stack.only("aws:ecs/taskDefinition:TaskDefinition").inputs).toMatchObject({
      cpu: "512",
      memory: "1024",
      runtimePlatform: { cpuArchitecture: "ARM64" },
    });
    expect(stack.only("aws:ecs/service:Service").inputs).toMatchObject({
      desiredCount: 1,
      deploymentMinimumHealthyPercent: 100,
      deploymentCircuitBreaker: { enable: true, rollback: true },
      waitForSteadyState: true,
      networkConfiguration: { subnets: ["subnet-1", "subnet-2"], securityGroups: ["sg-of-the-network"] },
    });
  });

  it("starts once it can be reached and may do what it does", () => {
    const { dependencies } = stack.only("aws:ecs/service:Service");
    for (const needed of [
      "listener:Listener::gateway",
      "RolePolicy::gateway",
      "RolePolicy::gateway-execution",
    ])
      expect(
        dependencies.some((urn) => urn.endsWith(needed)),
        needed,
      ).toBe(true);
  });

  it("may use the table and wake the reconciler, and its start may read its secret", () => {
    const actionsOf = (name: string) => {
      const policy = String(stack.only("aws:iam/rolePolicy:RolePolicy", name).inputs["policy"]);
      return (JSON.parse(policy) as { Statement: { Action: string[] }[] }).Statement.flatMap(
        ({ Action }) => Action,
      );
    };
    expect(new Set(actionsOf("gateway").map((action) => action.split(":")[0]))).toEqual(
      new Set(["dynamodb", "lambda"]),
    );
    expect(actionsOf("gateway-execution")).toEqual([
      "logs:CreateLogStream",
      "logs:PutLogEvents",
      "ssm:GetParameters",
    ]);
  });

  it("lets in the load balancer, at its port", () => {
    const rule = stack.only(
      "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
      "gateway-from-balancer",
    );
    expect(rule.inputs).toMatchObject({ securityGroupId: "sg-of-the-network", fromPort: 8080, toPort: 8080 });
    const out = stack.only("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "balancer-to-gateway");
    expect(out.inputs["referencedSecurityGroupId"]).toBe("sg-of-the-network");
  });
});

it("keeps the origin secret out of sight", async () => {
  const made = await recordComponents({}, async (config) => {
    const { OriginSecret } = await import("../../infra/components/origin-secret.ts");
    const { value } = new OriginSecret("origin", config);
    return { value };
  });
  const password = made.only("random:index/randomPassword:RandomPassword");
  expect(password.inputs).toMatchObject({ length: 48, special: false });
  expect(password.additionalSecretOutputs).toContain("result");
  const parameter = made.only("aws:ssm/parameter:Parameter");
  expect(parameter.inputs).toMatchObject({ type: "SecureString", name: "/spotter/test/origin-secret" });
  expect(parameter.secrets).toContain("value");
  expect(made.secretOutputs).toEqual(["value"]);
});
