import { beforeAll, describe, expect, it } from "vitest";
import { notStartedReason } from "../../functions/aws/aws-containers/reasons.ts";
import { recordComponents, type Components } from "./record-components.ts";

const record = (settings: Record<string, string>) =>
  recordComponents(settings, async (config) => {
    const { BatchQueues } = await import("../../infra/components/batch.ts");
    const { onDemand, spot, nodes } = new BatchQueues(
      "work",
      {
        subnetIds: ["subnet-1", "subnet-2"],
        securityGroupIds: ["sg-tasks"],
        nodes: { subnetId: "subnet-nodes", securityGroupId: "sg-nodes" },
      },
      config,
    );
    return { onDemand, spot, ...(nodes && { nodes }) };
  });

const ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment";
const QUEUE = "aws:batch/jobQueue:JobQueue";
const TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate";

let batch: Components;
beforeAll(async () => {
  batch = await record({ gpuClasses: '["L4:1","H100:8=3"]', multiNode: "H100:8=4", maxCpuTasks: "5" });
}, 30_000);
const resources = (name: string) => batch.only(ENVIRONMENT, name).inputs["computeResources"];

describe("environments", () => {
  it("are empty until a job waits, and have a cap", () => {
    const all = batch.all(ENVIRONMENT).map(({ name, inputs }) => {
      const { type, minVcpus, maxVcpus } = inputs["computeResources"] as Record<string, unknown>;
      return [name, type, minVcpus, maxVcpus];
    });
    expect(all).toEqual([
      ["work-cpu", "FARGATE", undefined, 20],
      ["work-cpu-spot", "FARGATE_SPOT", undefined, 20],
      ["work-l4-1", "EC2", 0, 8],
      ["work-l4-1-spot", "SPOT", 0, 8],
      ["work-h100-8", "EC2", 0, 576],
      ["work-h100-8-spot", "SPOT", 0, 576],
      ["work-nodes", "EC2", 0, 768],
    ]);
    for (const { inputs, ignoreChanges } of batch.all(ENVIRONMENT)) {
      expect(inputs["type"]).toBe("MANAGED");
      // Batch's own role, without which an environment cannot be changed in place.
      expect(inputs["serviceRole"]).toBeUndefined();
      expect(ignoreChanges).toEqual(["computeResources.desiredVcpus"]);
    }
  });

  it("start hosts of the class from a template that is safe, with the stack's tags", () => {
    expect(resources("work-l4-1")).toMatchObject({
      instanceTypes: ["g6.xlarge"],
      subnets: ["subnet-1", "subnet-2"],
      securityGroupIds: ["sg-tasks"],
      ec2Configurations: [{ imageType: "ECS_AL2023_NVIDIA" }],
      tags: batch.config.tags,
      instanceRole: expect.stringContaining(":instance-profile/work-1a2b3c4") as string,
    });
    const template = batch.only(TEMPLATE, "work").inputs;
    expect(template).toMatchObject({
      metadataOptions: { httpTokens: "required", httpPutResponseHopLimit: 1 },
    });
    // Both are Batch's to say.
    expect([template["imageId"], template["iamInstanceProfile"]]).toEqual([undefined, undefined]);
    const data = Buffer.from(String(template["userData"]), "base64").toString();
    expect(data).toContain("IDLE_MINUTES=0\nMAX_HOURS=192\n");
  });

  it("have hosts that may be agents of Batch's clusters only", () => {
    const names = batch.all("aws:iam/rolePolicy:RolePolicy").map(({ name }) => name);
    expect(names.sort()).toEqual(["work", "work-nodes"]);
  });
});

describe("a training over several hosts", () => {
  it("has them side by side in one zone, on demand, with every card of the fabric", () => {
    expect(resources("work-nodes")).toMatchObject({
      subnets: ["subnet-nodes"],
      instanceTypes: ["p5.48xlarge"],
      placementGroup: "work-nodes-1a2b3c4",
    });
    expect(batch.only("aws:ec2/placementGroup:PlacementGroup").inputs["strategy"]).toBe("cluster");
    const cards = batch.only(TEMPLATE, "work-nodes").inputs["networkInterfaces"] as Record<string, unknown>[];
    expect(cards).toHaveLength(32);
    expect(cards[0]).toMatchObject({ deviceIndex: 0, networkCardIndex: 0, interfaceType: "efa" });
    expect(cards[31]).toMatchObject({ deviceIndex: 1, networkCardIndex: 31, securityGroups: ["sg-nodes"] });
    // A template with cards names their groups itself.
    expect(resources("work-nodes")).not.toHaveProperty("securityGroupIds");
    expect(batch.outputs["nodes"]).toMatchObject({ name: "work-nodes-1a2b3c4" });
  });
});

describe("queues", () => {
  it("lead to one environment each, so that a job gets what it asked for", () => {
    for (const { name, inputs, dependencies } of batch.all(QUEUE)) {
      expect(inputs["computeEnvironmentOrders"], name).toEqual([
        {
          order: 1,
          computeEnvironment: expect.stringContaining(`compute-environment/${name}-1a2b3c4`) as string,
        },
      ]);
      // It is destroyed before its environment, which refuses otherwise.
      expect(dependencies.some((urn) => urn.endsWith(`ComputeEnvironment::${name}`))).toBe(true);
    }
  });

  it("give back what waits for an instance too long, with a reason that the control plane reads", () => {
    for (const { inputs } of batch.all(QUEUE)) {
      const limits = inputs["jobStateTimeLimitActions"] as Record<string, string | number>[];
      expect(limits).toHaveLength(3);
      for (const { reason, state, action, maxTimeSeconds } of limits) {
        expect(notStartedReason(String(reason))).toBe("capacity");
        expect([state, action]).toEqual(["RUNNABLE", "CANCEL"]);
        // What AWS takes.
        expect(maxTimeSeconds).toBeGreaterThanOrEqual(600);
        expect(maxTimeSeconds).toBeLessThanOrEqual(86_400);
      }
    }
  });
});

it("is Fargate alone without GPUs and spot", async () => {
  const bare = await record({ gpuClasses: "[]", spot: "false" });
  expect(bare.all(QUEUE).map(({ name }) => name)).toEqual(["work-cpu"]);
  for (const type of [TEMPLATE, "aws:iam/role:Role", "aws:ec2/placementGroup:PlacementGroup"])
    expect(bare.all(type)).toEqual([]);
});
