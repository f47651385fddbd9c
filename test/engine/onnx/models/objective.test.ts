import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import type { TrainBatch } from "../../../../engine/onnx/engine-api.ts";
import { objectiveInputs, PLAIN } from "../../../../engine/onnx/models/objective.ts";
import { Graph } from "../../../../engine/onnx/graph/graph.ts";
import { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { gradientName } from "../../../../engine/onnx/models/train-graph.ts";
import { elementOf, microBatchFeeds } from "../../../../engine/onnx/train/feeds.ts";
import { LossMetrics } from "../../../../engine/onnx/train/loss-metrics.ts";
import { divisors, objectiveFeeds } from "../../../../engine/onnx/train/losses.ts";
import { objectiveShape } from "../../../../engine/onnx/train/objective-shape.ts";
import { microBatches } from "../../../../engine/onnx/train/micro-batches.ts";
import { ObjectiveSessions } from "../../../../engine/onnx/train/objective-sessions.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { fixture, readFixture, relativeError } from "../support/fixtures.ts";

/** Written by test/reference/policy_losses.py. */
interface Fixture {
  versions: { torch: string };
  script: string;
  model: string;
  cases: LossCase[];
}

interface LossCase {
  name: string;
  batch: Omit<TrainBatch, "learningRate" | "microBatchSize">;
  /** The batch without what the case is about. */
  without: Partial<TrainBatch>;
  expected: {
    loss: number;
    clipFraction: number;
    norms: Record<string, number>;
    gradients: Record<string, number[]>;
  };
}

const reference = readFixture("policy-losses.json") as Fixture;

describe("policy losses", () => {
  let policy: Policy;
  let sessions: ObjectiveSessions;

  beforeAll(async () => {
    policy = await Policy.load(fixture(reference.model));
    sessions = new ObjectiveSessions(policy, { maxPositions: 32, threads: 1, trainable: policy.parameters });
    return () => sessions.close();
  });

  it("were measured by the script as it is", async () => {
    const script = await readFile(
      fileURLToPath(new URL("../../../reference/policy_losses.py", import.meta.url)),
    );
    expect(reference.script).toBe(createHash("sha256").update(script).digest("hex"));
    expect(reference.versions.torch).toMatch(/^\d+\.\d+/);
  });

  it.each(reference.cases)("have the value and the gradients of PyTorch float64: $name", async (each) => {
    const { expected } = each;
    const pass = await run({ ...each.batch, learningRate: 0, microBatchSize: 2 });
    expect(pass.loss).toBeCloseTo(expected.loss, 5);
    expect(pass.clipFraction).toBeCloseTo(expected.clipFraction, 9);
    expect(Object.keys(expected.norms).sort()).toEqual([...pass.gradients.keys()].sort());
    for (const [name, norm] of Object.entries(expected.norms))
      expect(Math.hypot(...(pass.gradients.get(name) ?? [])) / norm, name).toBeCloseTo(1, 4);
    for (const [name, values] of Object.entries(expected.gradients))
      expect(
        relativeError((pass.gradients.get(name) ?? []).slice(0, values.length), values),
        name,
      ).toBeLessThan(2e-5);
  });

  it.each(reference.cases)("are others without what they are about: $name", async (each) => {
    const pass = await run({ ...each.batch, ...each.without, learningRate: 0, microBatchSize: 8 });
    const [name, values] = Object.entries(each.expected.gradients)[0] ?? ["", []];
    expect(relativeError(pass.gradients.get(name) ?? [], values)).toBeGreaterThan(0.02);
  });

  /** Forward and backward of a batch in micro-batches, as the trainer goes about it. */
  async function run(batch: TrainBatch): Promise<{
    loss: number;
    clipFraction: number;
    gradients: Map<string, number[]>;
  }> {
    const by = divisors(batch);
    const metrics = new LossMetrics(batch, by);
    const session = await sessions.of(objectiveShape(batch));
    const sum = new ParameterSet([...policy.parameters]);
    const fetches: Record<string, Tensor | null> = { logprob: null, entropy: null };
    const gradients = new ParameterSet([...policy.parameters]);
    for (const { name, tensor } of gradients) fetches[gradientName(name)] = tensor;
    const sequences = batch.sequences.map(({ ids, mask }) => ({ ids, wanted: mask.map(Boolean) }));
    for (const part of microBatches(sequences, { sequences: batch.microBatchSize })) {
      const feeds = {
        ...policy.feeds(),
        ...microBatchFeeds(part, batch.temperature),
        ...objectiveFeeds(batch, part, by),
      };
      const outputs = await session.run(feeds, fetches);
      const column = (name: string): number[] => part.places.map((_, row) => elementOf(outputs, name, row));
      metrics.add(part, column("logprob"), column("entropy"));
      for (const { name, data } of sum) {
        const other = gradients.get(name).data;
        for (let i = 0; i < data.length; i++) data[i] = (data[i] ?? 0) + (other[i] ?? 0);
      }
    }
    return {
      ...metrics.result(),
      gradients: new Map(sum.diskTensors().map(({ name, data }) => [name, [...data]])),
    };
  }
});

describe("a trainer", () => {
  it.each(reference.cases.filter(({ name }) => name === "together" || name === "dppo-drift"))(
    "learns by another objective than the one it was made for: $name",
    async ({ batch, expected }) => {
      const optimizer = {
        type: "sgd",
        momentum: 0,
        nesterov: false,
        weightDecay: 0,
        maxGradNorm: 1e9,
      } as const;
      const policy = await Policy.load(fixture(reference.model));
      const trainer = await Trainer.create(policy, { optimizer, reference: false, seed: 1 }, { threads: 1 });
      const result = await trainer.step({ ...batch, learningRate: 1e-3, microBatchSize: 3 });
      await trainer.close();
      expect(result.loss).toBeCloseTo(expected.loss, 5);
      expect(result.gradNorm / Math.hypot(...Object.values(expected.norms))).toBeCloseTo(1, 4);
    },
  );
});

describe("the graph of an objective", () => {
  it("asks for no more than its terms need", () => {
    const inputsOf = (shape: Parameters<typeof objectiveInputs>[1]): string[] => {
      const graph = new Graph();
      objectiveInputs(graph, shape);
      return graph.inputs.map(({ name }) => name);
    };
    const plain = inputsOf(PLAIN);
    expect(plain.filter((name) => /mask|drift|sequence|entropy/.test(name))).toEqual([]);
    const all = inputsOf({ trust: "mask", ratio: "sequence", kl: "k1", klWeight: "own", entropy: true });
    expect(all.filter((name) => !plain.includes(name)).sort()).toEqual(
      ["drift_weight", "entropy_weight", "mask_max", "mask_min", "sequence_means", "sequence_owners"].sort(),
    );
  });
});
