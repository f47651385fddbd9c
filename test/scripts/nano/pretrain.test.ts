import { describe, expect, it } from "vitest";
import type { TrainBatch } from "../../../engine/onnx/engine-api.ts";
import { loadTextModel } from "../../../engine/onnx/text/text-model.ts";
import { exchange } from "../../../scripts/nano/conversation.ts";
import {
  learningRateAt,
  pretrain,
  toSequence,
  type PretrainSettings,
} from "../../../scripts/nano/pretrain.ts";

const settings: PretrainSettings = {
  seed: 1,
  steps: 4,
  shortPerStep: 6,
  toolsEvery: 2,
  toolsPerStep: 2,
  learningRate: 1e-3,
  warmupSteps: 2,
  finalShare: 0.1,
};
const nano = new URL("../../../engine/models/nano", import.meta.url).pathname;

describe("toSequence", () => {
  it("learns what the assistant says and that it ends, nothing else", async () => {
    const text = await loadTextModel(nano);
    const { messages } = exchange("Hi", "one");
    messages.push(...exchange("And?", "two").messages);
    const { ids, mask, advantages } = toSequence(text, { messages });
    expect(mask).toHaveLength(ids.length);
    expect(advantages).toHaveLength(ids.length);
    expect(
      text.tokenizer.decode(
        ids.filter((_, i) => mask[i] === 1),
        { special: true },
      ),
    ).toBe("one<|end|>two<|end|>");
  });
});

describe("learningRateAt", () => {
  it("rises linearly, then follows a cosine", () => {
    const rates = [0, 1, 2, 3].map((step) => learningRateAt({ ...settings, steps: 4 }, step));
    expect(rates[0]).toBeCloseTo(0.5e-3);
    expect(rates[2]).toBeCloseTo(0.55e-3);
    expect(learningRateAt({ ...settings, steps: 1000 }, 999)).toBeCloseTo(1e-4, 6);
  });
});

describe("pretrain", () => {
  it("feeds the same batches for the same seed, and now and then one of tools", async () => {
    const text = await loadTextModel(nano);
    const run = async () => {
      const batches: TrainBatch[] = [];
      const step = async (batch: TrainBatch) => {
        batches.push(batch);
        return { loss: 4, gradNorm: 1, kl: 0, entropy: 0, clipFraction: 0, tokens: 10, logprobs: [] };
      };
      const seen: number[] = [];
      const end = await pretrain({ step }, text, settings, (progress) => seen.push(progress.step));
      return { batches, seen, end };
    };
    const [first, second] = [await run(), await run()];
    expect(first.batches).toEqual(second.batches);
    expect(first.seen).toEqual([1, 2, 3, 4]);
    expect(first.end).toEqual({ step: 4, loss: 4, tokens: 40 });
    const sizes = first.batches.map(({ sequences, microBatchSize }) => [sequences.length, microBatchSize]);
    expect(sizes).toEqual([
      [6, 6],
      [2, 2],
      [6, 6],
      [2, 2],
    ]);
    const longest = first.batches.map(({ sequences }) => Math.max(...sequences.map(({ ids }) => ids.length)));
    expect(Math.max(longest[0] ?? 0, longest[2] ?? 0)).toBeLessThan(60);
    expect(Math.min(longest[1] ?? 0, longest[3] ?? 0)).toBeGreaterThan(60);
  });
});
