import type { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { GraphSession, type Tensors } from "../../../../engine/onnx/graph/session.ts";
import { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import type { Policy } from "../../../../engine/onnx/models/policy.ts";
import { gradientName, trainGraph } from "../../../../engine/onnx/models/train-graph.ts";
import { microBatchFeeds } from "../../../../engine/onnx/train/feeds.ts";
import { divisors, objectiveFeeds } from "../../../../engine/onnx/train/losses.ts";
import { microBatches } from "../../../../engine/onnx/train/micro-batches.ts";
import { SafetensorsFile } from "../../../../engine/onnx/weights/safetensors.ts";
import { cases, fixture, loadCase, relativeError, type Case } from "../support/fixtures.ts";

describe("gradients of the whole model", () => {
  it.each(cases())("agree with PyTorch float64: $name", async (testCase) => {
    const policy = await loadCase(testCase);
    await using pass = await prepare(policy, testCase);
    await pass.run();
    const file = await SafetensorsFile.open(fixture(`gradients/${testCase.name}.safetensors`));
    try {
      const ours = pass.gradients.diskTensors();
      expect(new Set(ours.map(({ name }) => name))).toEqual(new Set(file.tensors.keys()));
      for (const { name, data } of ours) {
        const theirs = new Float32Array(data.length);
        await file.readInto(name, theirs);
        expect(relativeError(data, theirs), name).toBeLessThan(1e-5);
      }
    } finally {
      await file.close();
    }
  });

  it.each(cases())("agree with finite differences: $name", async (testCase) => {
    const policy = await loadCase(testCase);
    keepRatiosOffTheClip(testCase);
    await using pass = await prepare(policy, testCase);
    await pass.run();
    const gradients = pass.gradients.clone();
    for (const { name, data } of pass.trainable) {
      const start = data.slice();
      const gradient = gradients.get(name).data;
      const direction = start.map((_, index) => (Math.sin(index * 12.9898 + 78.233) > 0 ? 1 : -1));
      const lossAt = async (step: number): Promise<number> => {
        for (let i = 0; i < data.length; i++) data[i] = (start[i] ?? 0) + step * (direction[i] ?? 0);
        return pass.loss();
      };
      const h = 3e-4;
      const near = (await lossAt(h)) - (await lossAt(-h));
      const far = (await lossAt(2 * h)) - (await lossAt(-2 * h));
      data.set(start);
      const difference = (8 * near - far) / (12 * h);
      const expected = gradient.reduce((sum, g, index) => sum + g * (direction[index] ?? 0), 0);
      const norm = Math.hypot(...gradient);
      expect(Math.abs(difference - expected) / norm, name).toBeLessThan(5e-3);
    }
  });
});

interface Pass extends AsyncDisposable {
  trainable: ParameterSet;
  gradients: ParameterSet;
  run(): Promise<Tensors>;
  /** The loss in double precision, from the log-probabilities a run gives. */
  loss(): Promise<number>;
}

/** The clip has a kink, where a difference means nothing: puts every ratio well inside of it. */
function keepRatiosOffTheClip({ batch, expected }: Case): void {
  for (const [index, sequence] of batch.sequences.entries()) {
    if (sequence.oldLogprobs === undefined) continue;
    const current = [...(expected.logprobs[index] ?? [])];
    sequence.oldLogprobs = sequence.mask.map((learnt, position) =>
      learnt ? (current.shift() ?? NaN) + 0.02 * Math.sin(position) : 0,
    );
  }
}

async function prepare(policy: Policy, testCase: Case): Promise<Pass> {
  const trainable = policy.adapter?.parameters ?? policy.parameters;
  const gradients = new ParameterSet([...trainable]);
  const session = await GraphSession.create(trainGraph(policy, { maxPositions: 32, trainable }), {
    threads: 1,
  });
  const batch = { ...testCase.batch, learningRate: 0, microBatchSize: 8 };
  const sequences = batch.sequences.map(({ ids, mask }) => ({ ids, wanted: mask.map(Boolean) }));
  const [part] = microBatches(sequences, { sequences: 8 });
  if (part === undefined) throw new Error("The case has nothing to learn");
  const tokens = testCase.expected.tokens;
  const feeds = {
    ...policy.feeds(),
    ...microBatchFeeds(part, batch.temperature),
    ...objectiveFeeds(batch, part, divisors(batch)),
  };
  const fetches: Record<string, Tensor | null> = { logprob: null };
  for (const { name, tensor } of gradients) fetches[gradientName(name)] = tensor;
  const run = (): Promise<Tensors> => session.run(feeds, fetches);
  return {
    trainable,
    gradients,
    run,
    async loss() {
      const logprobs = (await run()).logprob?.data as Float32Array;
      let total = 0;
      for (const [index, place] of part.places.entries()) {
        const sequence = batch.sequences[place.sequence];
        const logprob = logprobs[index] ?? NaN;
        const at = (values: number[] | undefined): number => values?.[place.position] ?? 0;
        const ratio = Math.exp(logprob - at(sequence?.oldLogprobs));
        const bounded = Math.min(1 + batch.clipHigh, Math.max(1 - batch.clipLow, ratio));
        const advantage = at(sequence?.advantages);
        total -=
          batch.loss === "ppo" ? Math.min(ratio * advantage, bounded * advantage) : advantage * logprob;
        const towards = at(sequence?.refLogprobs) - logprob;
        if (batch.klCoef > 0) total += batch.klCoef * (Math.exp(towards) - towards - 1);
      }
      return total / tokens;
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
}
