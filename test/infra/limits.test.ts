import { beforeAll, describe, expect, it } from "vitest";
import { checkSettings } from "../../infra/config/findings.ts";
import { GPU_CLASS_NAMES } from "../../infra/config/gpu-instances.ts";
import { MAX_GPU_CLASSES } from "../../infra/config/settings.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

/**
 * The largest stack that the settings allow, under the longest name. Each limit is one that AWS tells of in the middle
 * of a deployment, and does not raise.
 */
const LARGEST = {
  "spotter:availabilityZones": "3",
  "spotter:budgetEmail": "somebody@example.com",
  "spotter:domain": "gym.example.com",
  "spotter:hostedZoneId": "Z0123456789ABCDEFGHIJ",
  "spotter:gpuClasses": JSON.stringify(longest(MAX_GPU_CLASSES)),
  "spotter:multiNode": "A100-80GB:8=64",
  "spotter:engineImages": JSON.stringify(
    ["slime", "vllm"].map(
      (each) => `${each}=${"registry.example.com/".repeat(8)}${each}@sha256:${"0".repeat(64)}`,
    ),
  ),
};
const NAME = "s".repeat(40);

/** Letters of a name. */
const NAMES: Record<string, number> = {
  "aws:autoscaling/group:Group": 255,
  "aws:batch/computeEnvironment:ComputeEnvironment": 128,
  "aws:batch/jobDefinition:JobDefinition": 128,
  "aws:batch/jobQueue:JobQueue": 128,
  "aws:cloudwatch/eventRule:EventRule": 64,
  "aws:ecs/capacityProvider:CapacityProvider": 255,
  "aws:iam/instanceProfile:InstanceProfile": 128,
  "aws:iam/role:Role": 64,
  "aws:lambda/function:Function": 64,
  "aws:lb/loadBalancer:LoadBalancer": 32,
  "aws:lb/targetGroup:TargetGroup": 32,
};

describe.each(["fargate", "lambda"])("the largest stack, with its gateway on %s", (gateway) => {
  let stack: Recorded[];
  beforeAll(async () => {
    ({ resources: stack } = await recordStack({ ...LARGEST, "spotter:gateway": gateway }, { stack: NAME }));
  }, 60_000);
  const all = (type: string) => stack.filter((each) => each.type === type && each.custom);
  /** What is longer than it may be, by the name of its resource. */
  const longer = (type: string, size: (inputs: Recorded["inputs"]) => number, most: number) =>
    all(type).flatMap(({ name, inputs }) =>
      size(inputs) > most ? [`${name}: ${size(inputs)} of ${most}`] : [],
    );
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value ?? "")).length;

  it("gives every resource a name that AWS takes", () => {
    const tooLong = stack
      .filter(({ type, custom }) => custom && NAMES[type] !== undefined)
      // Without a name of its own a resource gets one of eight letters more.
      .map(({ type, name, inputs: { name: own } }) => ({
        type,
        name: typeof own === "string" ? own : `${name}-1234567`,
      }))
      .filter(({ type, name }) => name.length > (NAMES[type] ?? 0));
    expect(tooLong).toEqual([]);
  });

  it("tells functions all they need in the 4 KB of their variables", () => {
    const bytes = ({ environment }: Recorded["inputs"]) => {
      const { variables = {} } = (environment ?? {}) as { variables?: Record<string, string> };
      return Object.entries(variables).flat().join("").length;
    };
    expect(longer("aws:lambda/function:Function", bytes, 4096)).toEqual([]);
    expect(
      Math.max(...all("aws:lambda/function:Function").map(({ inputs }) => bytes(inputs))),
    ).toBeGreaterThan(2000);
  });

  it("has policies of roles within 10,240 letters, and of the bucket within 20 KB", () => {
    expect(longer("aws:iam/rolePolicy:RolePolicy", ({ policy }) => text(policy), 10_240)).toEqual([]);
    expect(longer("aws:s3/bucketPolicy:BucketPolicy", ({ policy }) => text(policy), 20_480)).toEqual([]);
  });

  it("asks EventBridge for events in 2,048 letters", () => {
    expect(
      longer("aws:cloudwatch/eventRule:EventRule", ({ eventPattern }) => text(eventPattern), 2048),
    ).toEqual([]);
  });

  it("starts hosts with 16 KB of user data", () => {
    const bytes = ({ userData }: Recorded["inputs"]) => Buffer.from(String(userData), "base64").byteLength;
    expect(longer("aws:ec2/launchTemplate:LaunchTemplate", bytes, 16_384)).toEqual([]);
  });

  it("describes containers in 64 KB, and jobs in 24 KB", () => {
    const ofTask = ({ containerDefinitions }: Recorded["inputs"]) => text(containerDefinitions);
    expect(longer("aws:ecs/taskDefinition:TaskDefinition", ofTask, 65_536)).toEqual([]);
    const ofJob = ({ containerProperties, nodeProperties }: Recorded["inputs"]) =>
      text(containerProperties) + text(nodeProperties);
    expect(longer("aws:batch/jobDefinition:JobDefinition", ofJob, 24_576)).toEqual([]);
  });

  it("attaches 20 capacity providers to a cluster at most, and has 25 rules in front", () => {
    const providers = ({ capacityProviders }: Recorded["inputs"]) => (capacityProviders as unknown[]).length;
    expect(longer("aws:ecs/clusterCapacityProviders:ClusterCapacityProviders", providers, 20)).toEqual([]);
    const rules = ({ orderedCacheBehaviors }: Recorded["inputs"]) =>
      (orderedCacheBehaviors as unknown[]).length + 1;
    expect(longer("aws:cloudfront/distribution:Distribution", rules, 25)).toEqual([]);
  });
});

it("refuses more GPU classes than functions can be told of, and tells why", () => {
  const { findings } = checkSettings({
    gpuClasses: JSON.stringify(GPU_CLASS_NAMES.slice(0, MAX_GPU_CLASSES + 1)),
  });
  expect(findings.map(({ message }) => message)).toEqual([expect.stringMatching(/^may be 6 at most.*4 KB/)]);
});

/** Classes with the longest names. */
function longest(count: number): string[] {
  return GPU_CLASS_NAMES.toSorted((a, b) => b.length - a.length).slice(0, count);
}
