import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TrainBatch } from "../../../../engine/onnx/engine-api.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { Critic } from "../../../../engine/onnx/train/critic.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { batch, sequences, setup } from "../support/batches.ts";
import { expectError } from "../support/errors.ts";
import { readFixture, relativeError } from "../support/fixtures.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyConfig } from "../support/tiny.ts";

/** Written by test/reference/critic.py. */
interface Reference {
  made: { script: string; sha256: string };
  setup: { learningRate: number; updates: number; clip: number };
  width: number;
  learning: {
    hidden: number[];
    returns: number[];
    values: number[];
    loss: number;
    weight: number[];
    bias: number;
  }[];
}

const reference = readFixture("critic.json") as Reference;
const threads = { threads: 1 };
const critic = { learningRate: 0.01, updates: 4, clip: 10 };

describe("a critic", () => {
  it("is compared with what the script of today writes", () => {
    const script = readFileSync(new URL(`../../../../${reference.made.script}`, import.meta.url));
    expect(createHash("sha256").update(script).digest("hex")).toBe(reference.made.sha256);
  });

  it("learns the clipped loss as PyTorch does, from the mean return on", async () => {
    const policy = new Policy({ ...tinyConfig, hiddenSize: reference.width });
    const learner = new Critic(policy, reference.setup, { ...threads, maxPositions: 8 });
    for (const { hidden, returns, values, loss, weight, bias } of reference.learning) {
      // What was expected before the first step is not asked for: it begins at the mean.
      const old = learner.optimizer.step === 0 ? returns.map(() => 0) : values;
      expect(await learner.learn({ hidden: Float32Array.from(hidden), returns, values: old })).toBeCloseTo(
        loss,
        6,
      );
      expect(relativeError(learner.parameters.get("critic.weight").data, weight)).toBeLessThan(1e-4);
      expect(relativeError(learner.parameters.get("critic.bias").data, [bias])).toBeLessThan(1e-4);
    }
    await learner.close();
  });
});

describe("a trainer with a critic", () => {
  /** Worth what the first token says: something a head on the hidden states can tell. */
  const returnsOf = (ids: number[]): number => ((ids[0] ?? 0) % 5) - 2;

  async function ready(change = {}): Promise<Trainer> {
    return Trainer.create(randomPolicy(tinyConfig, 3), { ...setup, critic, ...change }, threads);
  }

  async function judged(trainer: Trainer, learningRate: number): Promise<TrainBatch> {
    const values = await trainer.score(
      sequences.map(({ ids }) => ids),
      "critic",
      1,
    );
    const withReturns = sequences.map((each, index) => ({
      ...each,
      returns: each.ids.map(() => returnsOf(each.ids)),
      values: values[index],
    }));
    return batch({ sequences: withReturns, learningRate, microBatchSize: 2 });
  }

  it("foretells returns better and better, and moves the policy no other way than without", async () => {
    const [with_, without] = [await ready(), await ready({ critic: undefined })];
    const losses: number[] = [];
    for (let step = 0; step < 40; step++)
      losses.push((await with_.step(await judged(with_, 1e-3))).valueLoss ?? NaN);
    for (let step = 0; step < 40; step++)
      await without.step(batch({ learningRate: 1e-3, microBatchSize: 2 }));
    expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) / 4);
    for (const { name, data } of without.trainable) expect(with_.trainable.get(name).data).toEqual(data);
    for (const trainer of [with_, without]) await trainer.close();
  });

  it("goes on exactly from its state, which one without a critic has not", async () => {
    await using folder = await temporaryFolder();
    const [base, state, bare] = ["base", "state", "bare"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    const whole = await ready();
    await whole.step(await judged(whole, 1e-3));
    await whole.policy.save(base);
    await whole.saveState(state);
    const resumed = await Trainer.create(await Policy.load(base), { ...setup, critic }, threads);
    await resumed.loadState(state);
    const results = [
      await whole.step(await judged(whole, 1e-3)),
      await resumed.step(await judged(resumed, 1e-3)),
    ];
    expect(results[1]).toEqual(results[0]);
    const ids = sequences.map((each) => each.ids);
    expect(await resumed.score(ids, "critic", 1)).toEqual(await whole.score(ids, "critic", 1));

    const without = await ready({ critic: undefined });
    await without.saveState(bare);
    await expectError(() => resumed.loadState(bare), "checkpoint_mismatch", "critic");
    await expectError(() => without.score(ids, "critic", 1), "invalid_input", "critic");
    for (const trainer of [whole, resumed, without]) await trainer.close();
  });
});
