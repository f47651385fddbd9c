import { describe, expect, it } from "vitest";
import type { EngineFault } from "../../../../sdk/schema/engines/given-options.ts";
import { slimeFaults } from "../../../../sdk/schema/engines/slime-check.ts";
import { slimeSettings, type SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import { planned } from "./planned.ts";

interface Shape {
  model?: string;
  hardware?: RunSpecInput["hardware"];
  slime: SlimeSettings;
  nodes?: number;
}

function faultsOf({ model = "Qwen3-4B", hardware, slime, nodes = 1 }: Shape): EngineFault[] {
  const changes = { model: { name: `Qwen/${model}` }, ...(hardware && { hardware }) };
  return slimeFaults(planned(changes, slime, { gpus: hardware?.count ?? 8, nodes }));
}

/** The shape with what a hint says: `name: 3` and `name: true`. */
function corrected(shape: Shape, hint: string): Shape {
  const said = [...hint.matchAll(/(\w+): (\d+|true)/g)].map(([, name, value]) => [
    name,
    value === "true" ? true : Number(value),
  ]);
  const { count, ...settings } = Object.fromEntries(said) as Record<string, number>;
  const hardware = count === undefined ? shape.hardware : { ...shape.hardware, count };
  return { ...shape, ...(hardware && { hardware }), slime: { ...shape.slime, ...settings } };
}

const H100 = (count: number) => ({ gpu: "H100" as const, count });

describe("a shape that cannot be", () => {
  it.each<[string, Shape]>([
    ["tensor parallelism that does not divide", { slime: { tensorModelParallelSize: 3 } }],
    [
      "three parallelisms that do not divide",
      { slime: { pipelineModelParallelSize: 6, contextParallelSize: 2 } },
    ],
    ["a context cut that leaves too few", { slime: { tensorModelParallelSize: 8, contextParallelSize: 4 } }],
    ["heads that cannot be cut", { model: "Qwen3.5-27B", slime: { tensorModelParallelSize: 16 }, nodes: 2 }],
    ["layers that cannot be cut", { slime: { pipelineModelParallelSize: 8 } }],
    ["experts that do not divide", { model: "Qwen3-30B-A3B", slime: { expertModelParallelSize: 3 } }],
    ["experts that are cut themselves", { model: "Qwen3-30B-A3B", slime: { expertTensorParallelSize: 2 } }],
    ["engines that do not divide", { slime: { rolloutNumGpus: 5, rolloutNumGpusPerEngine: 2 } }],
    ["an engine larger than all", { slime: { rolloutNumGpus: 2, rolloutNumGpusPerEngine: 4 } }],
    ["batches that do not divide", { slime: { globalBatchSize: 100 } }],
    ["more GPUs than there are", { hardware: H100(2), slime: { actorNumGpusPerNode: 4 } }],
    ["more GPUs to sample on than there are", { hardware: H100(4), slime: { rolloutNumGpus: 8 } }],
    [
      "more of both than there are",
      { hardware: H100(8), slime: { colocate: false, actorNumGpusPerNode: 8, rolloutNumGpus: 8 } },
    ],
    [
      "memory that a larger cut needs less of",
      { model: "Qwen3-14B", hardware: H100(8), slime: { tensorModelParallelSize: 1 } },
    ],
    [
      "memory that only the CPU has",
      { model: "Qwen3-32B", hardware: { gpu: "A100-40GB", count: 8 }, slime: {} },
    ],
  ])("is refused with one that fits: %s", (_what, shape) => {
    const faults = faultsOf(shape);
    expect(faults.length).toBeGreaterThan(0);
    const fixed = faults.reduce((each, { hint = "" }) => corrected(each, hint), shape);
    expect(fixed, JSON.stringify(faults)).not.toEqual(shape);
    expect(faultsOf(fixed), JSON.stringify(fixed)).toEqual([]);
  });

  it("is told without a shape where none fits, and without waiting, whatever the numbers", () => {
    expect(faultsOf({ hardware: H100(1), slime: { colocate: false } })[0]?.hint).toContain(
      "One GPU is too few",
    );
    const huge = 10_000_000;
    const slime = {
      globalBatchSize: huge - 1,
      tensorModelParallelSize: huge,
      rolloutNumGpus: huge,
      rolloutBatchSize: huge,
    };
    expect(faultsOf({ slime }).length).toBeGreaterThan(2);
    expect(slimeSettings.safeParse({ nSamplesPerPrompt: 1e15 }).success).toBe(false);
  });

  it("is not one of a model that nobody knows, which is measured by what is said of it", () => {
    const flags = { "num-layers": 30, "num-attention-heads": 24, "num-query-groups": 8 };
    const shape = {
      model: "novel",
      slime: { flags, pipelineModelParallelSize: 4, tensorModelParallelSize: 2 },
    };
    expect(faultsOf(shape).map(({ where }) => where)).toEqual(["slime.pipelineModelParallelSize"]);
    const uneven = { ...flags, "decoder-last-pipeline-num-layers": 6 };
    expect(faultsOf({ ...shape, slime: { ...shape.slime, flags: uneven } })).toEqual([]);
  });
});
