import { describe, expect, it } from "vitest";
import { planOf } from "../../infra/preflight.ts";
import { stackPlan } from "../../sdk/cli/aws/plan.ts";

describe("what a stack comes to", () => {
  it("is told in the shape that the command line reads", () => {
    const told = planOf({ "aws:region": "eu-central-1" });
    if (!("plan" in told)) throw new Error(JSON.stringify(told));
    const read = stackPlan.parse(told.plan);
    expect(read).toMatchObject({ removal: "retain", gateway: "fargate", maxCpuTasks: 8 });
    expect(read.gpuClasses).toMatchObject([
      { name: "L4:1", instanceTypes: ["g6.xlarge"], vCpus: 4, maxInstances: 4, atOnce: 1 },
    ]);
    expect(read.engineImages).toEqual({});
    const image = `vllm/vllm-openai@sha256:${"0f".repeat(32)}`;
    const withEngine = planOf({ "spotter:engineImages": JSON.stringify([`vllm=${image}`]) });
    expect("plan" in withEngine && stackPlan.parse(withEngine.plan).engineImages).toEqual({ vllm: image });
  });

  it("counts the nodes of one training together, and each cost that stays", () => {
    const told = planOf({ "spotter:multiNode": "H100:8=2", "spotter:gateway": "lambda" });
    if (!("plan" in told)) throw new Error(JSON.stringify(told));
    expect(told.plan.gpuClasses.at(-1)).toMatchObject({
      name: "2 nodes of H100:8",
      vCpus: 192,
      atOnce: 2,
      spot: false,
    });
    const costs = told.plan.idleCosts.map(({ what }) => what);
    expect(costs).toContain("NAT gateway and its address");
    expect(costs).not.toContain("load balancer");
  });

  it("names all that is wrong with the settings", () => {
    const told = planOf({ "spotter:gatewy": "lambda", "spotter:maxInstances": "many" });
    expect("findings" in told && told.findings.map(({ path }) => path).sort()).toEqual([
      "gatewy",
      "maxInstances",
    ]);
  });
});
