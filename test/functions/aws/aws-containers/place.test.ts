import { describe, expect, it } from "vitest";
import {
  queuesOf,
  servePlace,
  workPlace,
  type Wanted,
} from "../../../../functions/aws/aws-containers/place.ts";
import type { AwsContainersParams } from "../../../../functions/aws/aws-containers/params.ts";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import type { Hardware } from "../../../../sdk/schema/hardware.ts";
import { PARAMS } from "../gym.ts";

/** Instances of eight. */
const eight = {
  serve: { "H100:8": { taskDefinition: "serve-h100-8", capacityProvider: "h100" } },
  work: { "H100:8": { jobDefinition: "work-h100-8", jobQueue: "h100", spotJobQueue: "spot" } },
};
const params: AwsContainersParams = {
  ...PARAMS,
  serve: { ...PARAMS.serve, ...eight.serve },
  work: { ...PARAMS.work, ...eight.work },
  engines: {
    vllm: { serve: "gym-vllm-{class}" },
    slime: {
      work: "gym-slime-{class}",
      nodes: { hardwareClass: "H100:8", most: 4, jobDefinition: "gym-slime-nodes", jobQueue: "nodes" },
    },
  },
};
const h100 = (more: Partial<Hardware> = {}): Hardware => ({ gpu: "H100", count: 8, spot: false, ...more });

describe("where a container is started, and from what", () => {
  it.each<[string, Wanted, string]>([
    ["nothing is asked for", {}, "serve-cpu on FARGATE"],
    ["the embedded engine is on a GPU", { hardware: h100() }, "serve-h100-8 on h100"],
    ["vLLM serves", { engine: "vllm", hardware: h100({ count: 2 }) }, "gym-vllm-h100-8 on h100"],
  ])("a replica, where %s", (_what, wanted, expected) => {
    const { taskDefinition, capacityProvider } = servePlace(params, wanted);
    expect(`${taskDefinition} on ${capacityProvider}`).toBe(expected);
  });

  it.each<[string, Wanted, object]>([
    ["nothing is asked for", {}, { jobDefinition: "work-cpu", jobQueue: "work-cpu" }],
    [
      "slime trains",
      { engine: "slime", hardware: h100() },
      { jobDefinition: "gym-slime-h100-8", jobQueue: "h100" },
    ],
    [
      "slime trains on spot",
      { engine: "slime", hardware: h100({ spot: true }) },
      { jobDefinition: "gym-slime-h100-8", jobQueue: "spot" },
    ],
    [
      "slime trains over several",
      { engine: "slime", hardware: h100({ nodes: 3 }) },
      { jobDefinition: "gym-slime-nodes", jobQueue: "nodes", nodes: 3 },
    ],
  ])("a run, where %s", (_what, wanted, expected) => {
    expect(workPlace(params, wanted)).toEqual(expected);
  });

  it("is looked for in every queue that there is", () => {
    expect(queuesOf(params)).toEqual(["work-cpu", "work-gpu", "work-gpu-spot", "h100", "spot", "nodes"]);
  });
});

describe("what a stack does not have is refused, with the setting that gives it", () => {
  const { engines: _engines, ...bare } = params;
  const without = { ...params, engines: { slime: { work: "x" } } };
  const refused = (place: () => unknown): string => {
    try {
      place();
    } catch (error) {
      const { code, where = "", message, hint = "" } = SpotterError.from(error);
      return `${code} ${where}: ${message} ${hint}`;
    }
    throw new Error("It was not refused.");
  };

  it.each<[string, AwsContainersParams, Wanted, RegExp]>([
    [
      "slime",
      bare,
      { engine: "slime", hardware: h100() },
      /^engine_missing engine: .*engineImages\[0\]' slime=/,
    ],
    ["a GPU for slime", params, { engine: "slime" }, /^invalid_input hardware.gpu: slime needs a GPU/],
    ["such a GPU", params, { hardware: h100({ gpu: "B200" }) }, /^invalid_input hardware.gpu: .*B200/],
    [
      "several nodes",
      without,
      { engine: "slime", hardware: h100({ nodes: 2 }) },
      /^invalid_input hardware.nodes: .*spotter:multiNode H100:8=2/,
    ],
    [
      "several nodes of the embedded engine",
      params,
      { hardware: h100({ nodes: 2 }) },
      /^invalid_input hardware.nodes: The embedded engine/,
    ],
    [
      "so many nodes",
      params,
      { engine: "slime", hardware: h100({ nodes: 5 }) },
      /^invalid_input hardware.nodes: .*4 nodes .*H100:8=5/,
    ],
    [
      "nodes of that GPU",
      params,
      { engine: "slime", hardware: h100({ nodes: 2, gpu: "L4", count: 1 }) },
      /^invalid_input hardware.gpu: .*nodes of 8 × H100/,
    ],
    [
      "spot nodes",
      params,
      { engine: "slime", hardware: h100({ nodes: 2, spot: true }) },
      /^invalid_input hardware.spot/,
    ],
  ])("%s", (_what, stack, wanted, expected) => {
    expect(refused(() => workPlace(stack, wanted))).toMatch(expected);
  });

  it.each<[string, Wanted, RegExp]>([
    ["a replica of slime", { engine: "slime", hardware: h100() }, /^engine_missing/],
    ["a replica over several", { engine: "vllm", hardware: h100({ nodes: 2 }) }, /hardware.nodes: A replica/],
  ])("%s", (_what, wanted, expected) => {
    expect(refused(() => servePlace(params, wanted))).toMatch(expected);
  });
});
