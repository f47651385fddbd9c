import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoraSetup, TrainBatch, TrainerSetup } from "../../../../engine/onnx/engine-api.ts";
import { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { KvCache } from "../../../../engine/onnx/models/kv-cache.ts";
import type { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { batch, sequence, sequences, setup } from "../support/batches.ts";
import { expectError } from "../support/errors.ts";
import { cases, loadCase, relativeError } from "../support/fixtures.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyConfig } from "../support/tiny.ts";

const lora: LoraSetup = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "gate_proj", "down_proj"] };
const threads = { threads: 1 };

describe("a trainer's step", () => {
  it.each(cases())("reports what PyTorch computes: $name", async (testCase) => {
    const policy = await loadCase(testCase);
    const adapter = policy.adapter && { ...policy.adapter, targets: [...policy.adapter.targets] };
    const optimizer = { ...setup.optimizer, weightDecay: 0 };
    const trainer = await Trainer.create(policy, { ...setup, optimizer, lora: adapter }, threads);
    // Two micro-batches: accumulating must give the whole batch's gradient.
    const result = await trainer.step({ ...testCase.batch, learningRate: 0, microBatchSize: 3 });
    await trainer.close();
    const { logprobs, tokens, kl = result.kl, ...means } = testCase.expected;
    expect(result.tokens).toBe(tokens);
    for (const [name, value] of Object.entries({ ...means, kl })) {
      expect(result[name as keyof typeof means], name).toBeCloseTo(value, 4);
    }
    for (const [index, row] of logprobs.entries()) {
      expect(relativeError(result.logprobs[index] ?? [], row)).toBeLessThan(1e-5);
    }
  });

  it.each([undefined, lora])("learns the batch it is given, adapter %j", async (adapter) => {
    const { trainer, policy } = await start({ lora: adapter });
    const base = policy.parameters.clone();
    const first = await trainer.step(batch());
    let last = first;
    for (let step = 0; step < 60; step++) last = await trainer.step(batch());
    expect(first.loss).toBeGreaterThan(3);
    // The frozen embeddings of a random model bound the logits, so an adapter on it can only learn so much.
    expect(last.loss).toBeLessThan(adapter === undefined ? first.loss / 3 : first.loss - 0.4);
    expect(same(policy.parameters, base)).toBe(adapter !== undefined);
    await trainer.close();
  });

  it("gives equal bits for equal inputs", async () => {
    const run = async (): Promise<ParameterSet> => {
      const { trainer } = await start({ lora }, 2);
      for (let step = 0; step < 3; step++) await trainer.step(batch({ microBatchSize: 2 }));
      await trainer.close();
      return trainer.trainable;
    };
    expect(same(await run(), await run())).toBe(true);
  });

  it("accumulates over micro-batches to the same update", async () => {
    const run = async (microBatchSize: number): Promise<{ norm: number; loss: number }> => {
      const { trainer } = await start({});
      const result = await trainer.step(batch({ microBatchSize }));
      await trainer.close();
      return { norm: result.gradNorm, loss: result.loss };
    };
    const [whole, parts] = [await run(8), await run(2)];
    expect(parts.norm).toBeCloseTo(whole.norm, 4);
    expect(parts.loss).toBeCloseTo(whole.loss, 5);
  });

  it("moves up what has a positive advantage and down what has a negative one", async () => {
    const { trainer } = await start({});
    const [good, bad] = [sequence([3, 17, 8, 30], 1), sequence([3, 17, 22, 5], -1)];
    const before = await trainer.score([good.ids, bad.ids], "policy", 1);
    const old = before.map((oldLogprobs, index) => ({ ...(index === 0 ? good : bad), oldLogprobs }));
    const result = await trainer.step(batch({ loss: "ppo", sequences: old, learningRate: 1e-3 }));
    expect(result).toMatchObject({ clipFraction: 0, tokens: 4 });
    expect(result.kl).toBeLessThan(1e-6);
    const after = await trainer.score([good.ids, bad.ids], "policy", 1);
    expect(sum(after[0])).toBeGreaterThan(sum(before[0]));
    expect(sum(after[1])).toBeLessThan(sum(before[1]));
    await trainer.close();
  });

  it("is pulled back to the reference by the KL term", async () => {
    const { trainer } = await start({ reference: true });
    for (let step = 0; step < 5; step++) await trainer.step(batch());
    const ids = sequences.map((each) => each.ids);
    const measure = async (): Promise<TrainBatch> => {
      const [refs, olds] = [await trainer.score(ids, "reference", 1), await trainer.score(ids, "policy", 1)];
      const withLogprobs = sequences.map((each, index) => ({
        ...each,
        advantages: each.ids.map(() => 0),
        refLogprobs: refs[index],
        oldLogprobs: olds[index],
      }));
      return batch({ loss: "ppo", klCoef: 1, sequences: withLogprobs, learningRate: 3e-3 });
    };
    const first = await trainer.step(await measure());
    for (let step = 0; step < 10; step++) await trainer.step(await measure());
    const last = await trainer.step(await measure());
    expect(first.kl).toBeGreaterThan(0.01);
    expect(last.kl).toBeLessThan(first.kl / 2);
    await trainer.close();
  });

  it("changes nothing when there is nothing to learn", async () => {
    const { trainer, policy } = await start({});
    await trainer.step(batch());
    const before = policy.parameters.clone();
    const masked = sequences.map((each) => ({ ...each, mask: each.ids.map(() => 0) }));
    const empty = { loss: 0, gradNorm: 0, kl: 0, entropy: 0, clipFraction: 0, tokens: 0 };
    expect(await trainer.step(batch({ sequences: masked }))).toEqual({
      ...empty,
      logprobs: [[], [], [], [], []],
    });
    expect(await trainer.step(batch({ sequences: [] }))).toEqual({ ...empty, logprobs: [] });
    const worthless = sequences.map((each) => ({ ...each, advantages: each.ids.map(() => 0) }));
    expect(await trainer.step(batch({ sequences: worthless }))).toMatchObject({ gradNorm: 0, tokens: 19 });
    expect(same(policy.parameters, before)).toBe(true);
    await trainer.close();
  });

  it("refuses a gradient that is not finite and keeps the weights", async () => {
    const { trainer, policy } = await start({});
    const before = policy.parameters.clone();
    const off = sequences.map((each) => ({ ...each, oldLogprobs: each.ids.map(() => -1000) }));
    await expectError(
      () => trainer.step(batch({ loss: "ppo", sequences: off })),
      "numeric_failure",
      "gradient",
    );
    expect(same(policy.parameters, before)).toBe(true);
    expect((await trainer.step(batch())).gradNorm).toBeGreaterThan(0);
    await trainer.close();
  });

  it.each<[Partial<TrainBatch>, string]>([
    [{ loss: "ppo" }, "sequences[0].oldLogprobs"],
    [{ klCoef: 0.1 }, "sequences[0].refLogprobs"],
    [{ temperature: 0 }, "temperature"],
    [{ microBatchSize: 0 }, "microBatchSize"],
    [{ sequences: [{ ids: [1, 2], mask: [0], advantages: [0, 1] }] }, "sequences[0].mask"],
    [{ sequences: [{ ids: [1, 2], mask: [1, 1], advantages: [1, 1] }] }, "sequences[0].mask[0]"],
    [{ sequences: [{ ids: [1, 40], mask: [0, 1], advantages: [0, 1] }] }, "sequences[0]"],
    [{ sequences: [{ ids: [1, 2], mask: [0, 1], advantages: [0, NaN] }] }, "sequences[0].advantages[1]"],
  ])("refuses %j", async (change, where) => {
    const { trainer } = await start({});
    await expectError(() => trainer.step(batch(change)), "invalid_input", where);
    await trainer.close();
  });

  it("refuses a sequence that is too long", async () => {
    const { trainer } = await start({});
    const long = sequence(Array<number>(65).fill(1));
    await expectError(
      () => trainer.step(batch({ sequences: [long] })),
      "context_length_exceeded",
      "sequences[0]",
    );
    await trainer.close();
  });

  it("is seen by a decoding session that shares the weights", async () => {
    const { trainer, policy } = await start({ lora });
    const session = await InferSession.create(policy, threads);
    const probability = async (): Promise<number> => {
      const cache = new KvCache(policy.config, 1, 8).window(0, 1);
      const { probs } = await session.run({
        ids: BigInt64Array.of(25n, 25n),
        seqlensK: Int32Array.of(1),
        total: 2,
        last: BigInt64Array.of(1n),
        invTemperature: Float32Array.of(1),
        cache,
      });
      return probs[6] ?? NaN;
    };
    const before = await probability();
    for (let step = 0; step < 10; step++) await trainer.step(batch());
    const [scores] = await trainer.score([[25, 25, 6]], "policy", 1);
    const after = await probability();
    expect(after).toBeGreaterThan(1.1 * before);
    expect(Math.log(after)).toBeCloseTo(scores?.[2] ?? NaN, 4);
    await session.close();
    await trainer.close();
  });
});

describe("a trainer's state", () => {
  it.each([undefined, lora])("goes on exactly, adapter %j", async (adapter) => {
    await using folder = await temporaryFolder();
    const whole = await start({ lora: adapter, reference: true });
    for (let step = 0; step < 2; step++) await whole.trainer.step(batch());
    const [base, state, peft] = ["base", "state", "peft"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    await whole.policy.save(base);
    if (adapter !== undefined) await whole.policy.saveAdapter(peft);
    await whole.trainer.saveState(state);
    for (let step = 0; step < 2; step++) await whole.trainer.step(batch());

    const policy = await Policy.load(base, adapter === undefined ? {} : { adapterDir: peft });
    const resumed = await Trainer.create(policy, { ...setup, lora: adapter, reference: true }, threads);
    await resumed.loadState(state);
    for (let step = 0; step < 2; step++) await resumed.step(batch());
    expect(same(resumed.trainable, whole.trainer.trainable)).toBe(true);
    const ids = sequences.map((each) => each.ids);
    const references = [
      await resumed.score(ids, "reference", 1),
      await whole.trainer.score(ids, "reference", 1),
    ];
    expect(references[0]).toEqual(references[1]);
    await whole.trainer.close();
    await resumed.close();
  });

  it("of another training is refused", async () => {
    await using folder = await temporaryFolder();
    const one = await start({});
    await one.trainer.saveState(folder.path);
    const other = await start({ lora });
    await expectError(() => other.trainer.loadState(folder.path), "model_corrupt", "missing");
    const withReference = await start({ reference: true });
    await expectError(() => withReference.trainer.loadState(folder.path), "model_corrupt", "reference");
    await expectError(
      () => one.trainer.loadState(join(folder.path, "none")),
      "model_not_found",
      "trainer.json",
    );
    for (const { trainer } of [one, other, withReference]) await trainer.close();
  });
});

describe("a trainer's setup", () => {
  it("must ask for the adapter the policy has", async () => {
    const { trainer, policy } = await start({ lora });
    await trainer.close();
    const create = (change: LoraSetup | undefined) => (): Promise<Trainer> =>
      Trainer.create(policy, { ...setup, lora: change }, threads);
    await expectError(create({ ...lora, rank: 8 }), "invalid_input", '"rank":8');
    await expectError(create(undefined), "invalid_input", "full");
  });

  it("must name modules that exist and a rank that can be", async () => {
    await expectError(() => start({ lora: { ...lora, targets: ["query"] } }), "invalid_input", "query");
    await expectError(() => start({ lora: { ...lora, targets: [] } }), "invalid_input", "no module");
    await expectError(() => start({ lora: { ...lora, rank: 0 } }), "invalid_input", "rank 0");
  });

  it("keeps no reference unless asked", async () => {
    const { trainer } = await start({});
    await expectError(() => trainer.score([[1, 2]], "reference", 1), "invalid_input", "reference");
    await trainer.close();
  });
});

async function start(
  change: Partial<TrainerSetup>,
  threads = 1,
): Promise<{ trainer: Trainer; policy: Policy }> {
  const policy = randomPolicy(tinyConfig, 5);
  return { policy, trainer: await Trainer.create(policy, { ...setup, ...change }, { threads }) };
}

function same(a: ParameterSet, b: ParameterSet): boolean {
  return [...a].every(({ name, data }) => {
    const other = b.get(name).data;
    return data.every((x, i) => Object.is(x, other[i]));
  });
}

function sum(values: number[] | undefined): number {
  return (values ?? []).reduce((a, b) => a + b, 0);
}
