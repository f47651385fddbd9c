import { beforeAll, describe, expect, it } from "vitest";
import { recordComponents, type Components } from "./record-components.ts";

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Cluster } = await import("../../infra/components/cluster.ts");
    const { GpuPools } = await import("../../infra/components/gpu-pools.ts");
    const cluster = new Cluster("replicas", config);
    const { onDemand, spot } = new GpuPools(
      "gpu",
      { cluster, subnetIds: ["subnet-1", "subnet-2"], securityGroupIds: ["sg-tasks"] },
      config,
    );
    return { cluster: cluster.name, arn: cluster.arn, onDemand, spot };
  });

const GROUP = "aws:autoscaling/group:Group";
const PROVIDER = "aws:ecs/capacityProvider:CapacityProvider";
const TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate";
const ATTACHED = "aws:ecs/clusterCapacityProviders:ClusterCapacityProviders";

interface Statement {
  Action: string | string[];
  Resource: string | string[];
  Condition?: unknown;
}

describe("GPU pools", () => {
  let pools: Components;
  beforeAll(async () => {
    pools = await record({ gpuClasses: '["L4:1","H100:8=3"]' });
  }, 30_000);

  it("are empty groups, one of spot instances beside each, with a cap", () => {
    const groups = pools.all(GROUP).map(({ name, inputs }) => [name, inputs["minSize"], inputs["maxSize"]]);
    expect(groups).toEqual([
      ["gpu-l4-1", 0, 2],
      ["gpu-l4-1-spot", 0, 2],
      ["gpu-h100-8", 0, 3],
      ["gpu-h100-8-spot", 0, 3],
    ]);
    for (const { inputs, ignoreChanges } of pools.all(GROUP)) {
      expect(inputs).toMatchObject({
        forceDelete: true,
        vpcZoneIdentifiers: ["subnet-1", "subnet-2"],
        suspendedProcesses: ["AZRebalance"],
        waitForCapacityTimeout: "0",
      });
      expect(inputs["desiredCapacity"]).toBeUndefined();
      expect(ignoreChanges).toEqual(["desiredCapacity"]);
    }
  });

  it("start instances of the class, and spot instances only where they are asked for", () => {
    const policy = (name: string) => pools.only(GROUP, name).inputs["mixedInstancesPolicy"];
    expect(policy("gpu-h100-8")).toMatchObject({
      launchTemplate: { overrides: [{ instanceType: "p5.48xlarge" }] },
      instancesDistribution: { onDemandBaseCapacity: 0, onDemandPercentageAboveBaseCapacity: 100 },
    });
    expect(policy("gpu-l4-1-spot")).toMatchObject({
      launchTemplate: { overrides: [{ instanceType: "g6.xlarge" }] },
      instancesDistribution: { onDemandBaseCapacity: 0, onDemandPercentageAboveBaseCapacity: 0 },
    });
  });

  it("get hosts from ECS for what waits; hosts are protected from below, and end themselves", () => {
    for (const { inputs } of pools.all(PROVIDER))
      expect(inputs["autoScalingGroupProvider"]).toMatchObject({
        managedTerminationProtection: "DISABLED",
        managedDraining: "DISABLED",
        managedScaling: { status: "ENABLED", targetCapacity: 100, minimumScalingStepSize: 1 },
      });
    for (const { inputs } of pools.all(GROUP)) expect(inputs["protectFromScaleIn"]).toBe(true);
  });

  it("carry the stack's tags to every host and disk", () => {
    const tags = pools.config.tags;
    for (const { inputs } of pools.all(GROUP)) {
      const carried = (inputs["tags"] as { key: string; value: string; propagateAtLaunch: boolean }[]).map(
        ({ key, value, propagateAtLaunch }) => [key, value, propagateAtLaunch],
      );
      expect(carried).toEqual([
        ...Object.entries(tags).map((pair) => [...pair, true]),
        ["AmazonECSManaged", "true", true],
      ]);
    }
    expect(pools.only(TEMPLATE).inputs["tagSpecifications"]).toEqual([
      { resourceType: "instance", tags },
      { resourceType: "volume", tags },
    ]);
  });

  it("are told apart by names that the functions get", () => {
    const { onDemand, spot } = pools.outputs as Record<string, Record<string, Record<string, string>>>;
    expect(Object.keys(onDemand ?? {}).sort()).toEqual(["H100:8", "L4:1"]);
    expect(Object.keys(spot ?? {}).sort()).toEqual(["H100:8", "L4:1"]);
    expect(onDemand?.["L4:1"]).toMatchObject({
      capacityProvider: "gpu-l4-1-1a2b3c4",
      autoScalingGroup: "gpu-l4-1-1a2b3c4",
    });
    expect(spot?.["H100:8"]?.["capacityProvider"]).toBe("gpu-h100-8-spot-1a2b3c4");
  });

  it("can be destroyed: the association first, then providers, groups, hosts' template and the cluster (81)", () => {
    const needs = (type: string, name: string) =>
      pools
        .only(type, name)
        .dependencies.map((urn) => urn.split("::").slice(-2).join("::").replace(/^.*\$/, ""));
    const association = needs(ATTACHED, "replicas");
    expect(association).toContain("aws:ecs/cluster:Cluster::replicas");
    for (const each of ["gpu-l4-1", "gpu-l4-1-spot", "gpu-h100-8", "gpu-h100-8-spot"]) {
      expect(association).toContain(`${PROVIDER}::${each}`);
      expect(needs(PROVIDER, each)).toContain(`${GROUP}::${each}`);
      expect(needs(GROUP, each)).toContain(`${TEMPLATE}::gpu`);
    }
    expect(needs(TEMPLATE, "gpu")).toContain("aws:ecs/cluster:Cluster::replicas");
    expect(pools.only("aws:ecs/cluster:Cluster").dependencies).toEqual([]);
  });
});

describe("a GPU host", () => {
  let pools: Components;
  beforeAll(async () => {
    pools = await record({ idleMinutes: "7" });
  });

  it("is safe: tokens for its metadata, which containers of a network of their own cannot reach, and an encrypted disk", () => {
    expect(pools.only(TEMPLATE).inputs).toMatchObject({
      imageId: "resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id",
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
      blockDeviceMappings: [
        { deviceName: "/dev/xvda", ebs: { volumeType: "gp3", volumeSize: 200, encrypted: "true" } },
      ],
      vpcSecurityGroupIds: ["sg-tasks"],
      instanceInitiatedShutdownBehavior: "terminate",
    });
  });

  it("joins its cluster with a guard that ends it", () => {
    const data = Buffer.from(String(pools.only(TEMPLATE).inputs["userData"]), "base64").toString();
    expect(data).toContain(`ECS_CLUSTER=${String(pools.outputs["cluster"])}\n`);
    expect(data).toContain("IDLE_MINUTES=7\n");
  });

  it("may be an agent of its cluster and leave its own groups, and nothing else", () => {
    const policy = pools.only("aws:iam/rolePolicy:RolePolicy").inputs["policy"];
    const { Statement } = JSON.parse(String(policy)) as { Statement: Statement[] };
    const [register, report, discover, leave] = Statement;
    expect(register?.Resource).toEqual([pools.outputs["arn"]]);
    expect(report).toMatchObject({
      Resource: "*",
      Condition: { ArnEquals: { "ecs:cluster": [pools.outputs["arn"]] } },
    });
    expect(discover).toMatchObject({ Action: "ecs:DiscoverPollEndpoint", Resource: "*" });
    expect(leave).toMatchObject({
      Action: "autoscaling:TerminateInstanceInAutoScalingGroup",
      Resource: [
        expect.stringContaining("autoScalingGroupName/gpu-l4-1-1a2b3c4") as string,
        expect.stringContaining("autoScalingGroupName/gpu-l4-1-spot-1a2b3c4") as string,
      ],
    });
    expect(Statement).toHaveLength(4);
    expect(pools.all("aws:iam/rolePolicyAttachment:RolePolicyAttachment")).toEqual([]);
  });
});

describe("without", () => {
  it("spot there are no groups of it", async () => {
    const pools = await record({ spot: "false" });
    expect(pools.all(GROUP).map(({ name }) => name)).toEqual(["gpu-l4-1"]);
    expect(pools.only(ATTACHED).inputs["capacityProviders"]).toEqual([
      "FARGATE",
      "FARGATE_SPOT",
      "gpu-l4-1-1a2b3c4",
    ]);
  });

  it("GPUs there is Fargate, and no host, role or group", async () => {
    const pools = await record({ gpuClasses: "[]" });
    expect(pools.only(ATTACHED).inputs["capacityProviders"]).toEqual(["FARGATE", "FARGATE_SPOT"]);
    for (const type of [GROUP, PROVIDER, TEMPLATE, "aws:iam/role:Role"]) expect(pools.all(type)).toEqual([]);
  });
});
