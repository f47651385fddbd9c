import { beforeAll, describe, expect, it } from "vitest";
import { targetOf } from "../../functions/aws/aws-containers/params.ts";
import { servePlace, workPlace } from "../../functions/aws/aws-containers/place.ts";
import { containerPlaces } from "../../functions/aws/aws-deps/containers.ts";
import { recordComponents, type Components } from "./record-components.ts";

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Network } = await import("../../infra/components/network.ts");
    const { Compute } = await import("../../infra/components/compute.ts");
    const network = new Network("network", config);
    const program = { url: "https://x/programs/x.tar.gz", sha256: "ab", entry: "dist/engine/{kind}.js" };
    const agent = { ...program, entry: "spotter_agent" };
    const { places, names } = new Compute("compute", { network, program, agent }, config);
    return { places, names, subnets: network.publicSubnetIds, ...network.securityGroups };
  });

const placesOf = ({ outputs }: Components) => containerPlaces.parse(JSON.parse(String(outputs["places"])));

describe("what the functions are told of containers", () => {
  let compute: Components;
  beforeAll(async () => {
    compute = await record({ gpuClasses: '["L4:1","L4:4=3"]' });
  }, 30_000);

  it("is what they read, to the letter", () => {
    expect(placesOf(compute)).toEqual({
      cluster: "replicas-1a2b3c4",
      subnets: compute.outputs["subnets"],
      securityGroups: [compute.outputs["tasks"]],
      assignPublicIp: true,
      containerName: "spotter",
      logGroup: "containers-1a2b3c4",
      logStreamPrefix: "spotter",
      serve: {
        cpu: {
          taskDefinition: "spotter-test-serve-cpu",
          capacityProvider: "FARGATE",
          spotCapacityProvider: "FARGATE_SPOT",
        },
        ...Object.fromEntries(
          ["l4-1", "l4-4"].map((slug) => [
            slug.toUpperCase().replace("-", ":"),
            {
              taskDefinition: `spotter-test-serve-${slug}`,
              capacityProvider: `gpu-${slug}-1a2b3c4`,
              spotCapacityProvider: `gpu-${slug}-spot-1a2b3c4`,
              autoScalingGroups: [`gpu-${slug}-1a2b3c4`, `gpu-${slug}-spot-1a2b3c4`],
              network: "host",
            },
          ]),
        ),
      },
      work: Object.fromEntries(
        ["cpu", "l4-1", "l4-4"].map((slug) => [
          slug === "cpu" ? slug : slug.toUpperCase().replace("-", ":"),
          {
            jobDefinition: `containers-work-${slug}-1a2b3c4`,
            jobQueue: `work-${slug}-1a2b3c4`,
            spotJobQueue: `work-${slug}-spot-1a2b3c4`,
          },
        ]),
      ),
      engines: {},
    });
  });

  it("gives a replica that wants two GPUs a host of four", () => {
    const { target } = targetOf(placesOf(compute).serve, { gpu: "L4", count: 2, spot: false });
    expect(target.taskDefinition).toBe("spotter-test-serve-l4-4");
  });

  it("names everything that policies need, and nothing twice", () => {
    const names = compute.outputs["names"] as Record<string, string | string[]>;
    expect(names).toMatchObject({ clusterName: "replicas-1a2b3c4", logGroupName: "containers-1a2b3c4" });
    const sizes = Object.entries(names).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.length : 1,
    ]);
    expect(Object.fromEntries(sizes)).toEqual({
      clusterName: 1,
      taskDefinitionArns: 3,
      jobDefinitionArns: 3,
      jobQueueArns: 6,
      taskRoleArns: 1,
      logGroupName: 1,
    });
    const arns = Object.values(names)
      .flat()
      .filter((each) => each.startsWith("arn:"));
    expect(new Set(arns).size).toBe(arns.length);
  });

  it("is made of resources with names of their own", () => {
    const named = compute.resources.map(({ urn }) => urn);
    expect(new Set(named).size).toBe(named.length);
  });
});

describe("with other settings", () => {
  it("there are no spot instances where the stack has none", async () => {
    const { serve, work } = placesOf(await record({ spot: "false" }));
    for (const target of [...Object.values(serve), ...Object.values(work)])
      expect(Object.keys(target ?? {}).filter((key) => key.startsWith("spot"))).toEqual([]);
    expect(serve["L4:1"]?.autoScalingGroups).toEqual(["gpu-l4-1-1a2b3c4"]);
  });

  it("there are processors alone where it has no GPUs", async () => {
    const { serve, work } = placesOf(await record({ gpuClasses: "[]" }));
    expect([Object.keys(serve), Object.keys(work)]).toEqual([["cpu"], ["cpu"]]);
  });

  it("engines with images have definitions of their own for each class, and those policies allow", async () => {
    const compute = await record({
      engineImages: JSON.stringify(["slime", "vllm"].map((each) => `${each}=x@sha256:${"0".repeat(64)}`)),
      gpuClasses: '["L4:1","H100:8"]',
      multiNode: "H100:8=2",
    });
    const params = { ...placesOf(compute), stack: "test" };
    expect(Object.keys(params.engines)).toEqual(["slime", "vllm"]);
    const made = (type: string, key: string) => compute.all(type).map(({ inputs }) => inputs[key]);
    const families = made("aws:ecs/taskDefinition:TaskDefinition", "family");
    const definitions = made("aws:batch/jobDefinition:JobDefinition", "name");
    const names = compute.outputs["names"] as Record<string, string[]>;
    for (const [gpu, count] of [
      ["L4", 1],
      ["H100", 8],
    ] as const) {
      const hardware = { gpu, count, spot: false };
      const { taskDefinition } = servePlace(params, { engine: "vllm", hardware });
      expect(families).toContain(taskDefinition);
      expect(names["taskDefinitionArns"]?.some((arn) => arn.includes(`/${taskDefinition}:`))).toBe(true);
      const { jobDefinition, jobQueue } = workPlace(params, { engine: "slime", hardware });
      expect(definitions).toContain(jobDefinition);
      expect(names["jobDefinitionArns"]?.some((arn) => arn.includes(`/${jobDefinition}:`))).toBe(true);
      expect(jobQueue).toBe(`work-${gpu.toLowerCase()}-${count}-1a2b3c4`);
    }
    const hardware = { gpu: "H100", count: 8, nodes: 2, spot: false } as const;
    expect(workPlace(params, { engine: "slime", hardware })).toEqual({
      jobDefinition: "spotter-test-slime-nodes",
      jobQueue: "work-nodes-1a2b3c4",
      nodes: 2,
    });
    const ofNodes = ["jobDefinitionArns", "jobQueueArns"].map(
      (name) => names[name]?.filter((arn) => arn.includes("nodes")).length,
    );
    expect(ofNodes).toEqual([1, 1]);
  });

  it("nothing is over several hosts without an engine for it", async () => {
    const compute = await record({ multiNode: "H100:8=2" });
    expect(placesOf(compute).engines).toEqual({});
    expect(compute.all("aws:batch/jobDefinition:JobDefinition").map(({ name }) => name)).toEqual([
      "containers-work-cpu",
      "containers-work-l4-1",
    ]);
  });
});
