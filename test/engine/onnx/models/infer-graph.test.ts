import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GraphSession } from "../../../../engine/onnx/graph/session.ts";
import { InferSession, type InferOutputs } from "../../../../engine/onnx/models/infer-session.ts";
import { KvCache } from "../../../../engine/onnx/models/kv-cache.ts";
import type { Policy } from "../../../../engine/onnx/models/policy.ts";
import { trainGraph } from "../../../../engine/onnx/models/train-graph.ts";
import { microBatchFeeds } from "../../../../engine/onnx/train/feeds.ts";
import { randomAdapter, randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { microBatches } from "../../../../engine/onnx/train/micro-batches.ts";
import { relativeError } from "../support/fixtures.ts";
import { numbers } from "../support/gradient-check.ts";
import { tinyConfig } from "../support/tiny.ts";

const POSITIONS = 24;
const sequences = [
  [3, 17, 8, 30, 2, 9, 14, 21, 5],
  [12, 1, 39, 7],
  [25, 25, 6, 11, 19, 33],
];

// Every path through the cache must give what the training graph gives for the whole sequence at once.
describe.each([
  { tied: true, adapter: false, packed: false },
  { tied: false, adapter: true, packed: false },
  { tied: true, adapter: true, packed: true },
])("decoding, tied $tied, adapter $adapter, packed $packed", ({ tied, adapter, packed }) => {
  let policy: Policy;
  let session: InferSession;
  let expected: Float32Array[][];

  beforeAll(async () => {
    policy = randomPolicy({ ...tinyConfig, tiedEmbeddings: tied }, 3);
    if (adapter) {
      const targets = ["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"];
      policy.adapter = randomAdapter(policy.config, { rank: 3, alpha: 6, targets }, 4);
      for (const { name, data } of policy.adapter.parameters) {
        if (name.includes("lora_B")) data.set(numbers(data.length, 9));
      }
    }
    expected = await fullLogits(policy);
    const mode = packed ? "packed" : "shared";
    session = await InferSession.create(policy, { threads: 1, base: mode, adapter: mode });
  });
  afterAll(() => session.close());

  it("ragged: every slot at its own position, one token at a time", async () => {
    const cache = new KvCache(policy.config, 3, POSITIONS);
    for (let position = 0; position < 9; position++) {
      const live = sequences.map((ids) => Math.min(position, ids.length - 1));
      const outputs = await decode(
        session,
        cache,
        3,
        sequences.map((ids, b) => ids[live[b] ?? 0] ?? 0),
        live,
      );
      for (const [b, at] of live.entries()) expectRow(outputs, b, expected[b]?.[at]);
    }
  });

  it("a first batch of prompts, right-padded, then ragged decoding", async () => {
    const cache = new KvCache(policy.config, 3, POSITIONS);
    const prompts = [5, 2, 3];
    const padded = sequences.flatMap((ids, b) =>
      Array.from({ length: 5 }, (_, s) => BigInt(s < (prompts[b] ?? 0) ? (ids[s] ?? 0) : 0)),
    );
    const outputs = await session.runWithLogits({
      ids: BigInt64Array.from(padded),
      seqlensK: Int32Array.from(prompts, (n) => n - 1),
      total: 5,
      last: BigInt64Array.from(prompts, (n) => BigInt(n - 1)),
      invTemperature: new Float32Array(3).fill(1),
      cache: cache.window(0, 3),
    });
    for (const [b, n] of prompts.entries()) expectRow(outputs, b, expected[b]?.[n - 1]);
    const next = await decode(
      session,
      cache,
      3,
      prompts.map((n, b) => sequences[b]?.[n] ?? 0),
      prompts,
    );
    for (const [b, n] of prompts.entries()) expectRow(next, b, expected[b]?.[n]);
  });

  it("one slot prefilled in chunks through a view, the others undisturbed", async () => {
    const cache = new KvCache(policy.config, 3, POSITIONS);
    const others = [0, 2];
    for (let position = 0; position < 3; position++) {
      const ids = sequences.map((sequence) => sequence[position] ?? 0);
      await decode(session, cache, 3, ids, [position, position, position]);
    }
    let done = 0;
    for (const chunk of [2, 1]) {
      const ids = (sequences[1] ?? []).slice(done, done + chunk);
      done += chunk;
      const outputs = await session.runWithLogits({
        ids: BigInt64Array.from(ids, BigInt),
        seqlensK: Int32Array.of(done - 1),
        total: done,
        last: BigInt64Array.of(BigInt(chunk - 1)),
        invTemperature: Float32Array.of(1),
        cache: cache.window(1, 1),
      });
      expectRow(outputs, 0, expected[1]?.[done - 1]);
    }
    const outputs = await decode(
      session,
      cache,
      3,
      sequences.map((sequence) => sequence[3] ?? 0),
      [3, 3, 3],
    );
    for (const b of [...others, 1]) expectRow(outputs, b, expected[b]?.[3]);
  });

  it("ignores what lies in the cache behind a sequence, and a reused slot's past", async () => {
    const cache = new KvCache(policy.config, 2, POSITIONS);
    cache.fill(777);
    for (let position = 0; position < 4; position++) {
      const ids = [sequences[0]?.[position] ?? 0, sequences[1]?.[position] ?? 0];
      const outputs = await decode(session, cache, 2, ids, [position, position]);
      expectRow(outputs, 1, expected[1]?.[position]);
    }
    // Slot 1 starts over with another sequence while slot 0 goes on.
    for (let position = 0; position < 3; position++) {
      const ids = [sequences[0]?.[4 + position] ?? 0, sequences[2]?.[position] ?? 0];
      const outputs = await decode(session, cache, 2, ids, [4 + position, position]);
      expectRow(outputs, 0, expected[0]?.[4 + position]);
      expectRow(outputs, 1, expected[2]?.[position]);
    }
  });

  it("continues a prompt that was copied from another slot", async () => {
    const cache = new KvCache(policy.config, 2, POSITIONS);
    cache.fill(777);
    const prompt = (sequences[0] ?? []).slice(0, 6);
    await session.runWithLogits({
      ids: BigInt64Array.from(prompt, BigInt),
      seqlensK: Int32Array.of(5),
      total: 6,
      last: BigInt64Array.of(5n),
      invTemperature: Float32Array.of(1),
      cache: cache.window(0, 1),
    });
    cache.copySlot(0, 1, 6);
    const outputs = await decode(session, cache, 2, [sequences[0]?.[6] ?? 0, sequences[0]?.[6] ?? 0], [6, 6]);
    expectRow(outputs, 0, expected[0]?.[6]);
    expectRow(outputs, 1, expected[0]?.[6]);
  });

  it("divides by each sequence's own temperature", async () => {
    const cache = new KvCache(policy.config, 2, POSITIONS);
    const { logits, probs } = await session.runWithLogits({
      ids: BigInt64Array.of(3n, 3n),
      seqlensK: Int32Array.of(0, 0),
      total: 1,
      last: BigInt64Array.of(0n, 0n),
      invTemperature: Float32Array.of(1, 2),
      cache: cache.window(0, 2),
    });
    const size = policy.config.vocabularySize;
    for (const [b, inverse] of [1, 2].entries()) {
      const row = Array.from(logits.subarray(b * size, (b + 1) * size), (logit) => Math.exp(logit * inverse));
      const total = row.reduce((sum, x) => sum + x, 0);
      const softmax = row.map((x) => x / total);
      expect(relativeError(probs.subarray(b * size, (b + 1) * size), softmax)).toBeLessThan(1e-5);
    }
  });
});

it("sees a weight that changed when weights are shared, and does not when they are packed", async () => {
  const policy = randomPolicy(tinyConfig, 3);
  const shared = await InferSession.create(policy, { threads: 1 });
  const packed = await InferSession.create(policy, { threads: 1, base: "packed" });
  const first = async (session: InferSession): Promise<Float32Array> => {
    const cache = new KvCache(policy.config, 1, POSITIONS);
    return (await decode(session, cache, 1, [3], [0])).logits.slice();
  };
  const before = await first(shared);
  expect(relativeError(await first(packed), before)).toBeLessThan(1e-4);
  for (const { data } of policy.parameters) data.forEach((weight, i) => (data[i] = weight * 1.1));
  expect(relativeError(await first(shared), before)).toBeGreaterThan(1e-3);
  expect(relativeError(await first(packed), before)).toBeLessThan(1e-4);
  await shared.close();
  await packed.close();
});

it("takes the memory of an answer back with the next one", async () => {
  const policy = randomPolicy(tinyConfig, 3);
  const session = await InferSession.create(policy, { threads: 1 });
  const cache = new KvCache(policy.config, 1, POSITIONS);
  const first = await decode(session, cache, 1, [3], [0]);
  const copied = first.probs.slice();
  const second = await decode(session, cache, 1, [3], [0]);
  expect([first.probs.length, first.logits.length]).toEqual([0, 0]);
  expect(second.probs).toEqual(copied);
  await session.close();
});

function decode(
  session: InferSession,
  cache: KvCache,
  batch: number,
  ids: number[],
  positions: number[],
): Promise<InferOutputs> {
  return session.runWithLogits({
    ids: BigInt64Array.from(ids, BigInt),
    seqlensK: Int32Array.from(positions),
    total: Math.max(...positions) + 1,
    last: new BigInt64Array(batch),
    invTemperature: new Float32Array(batch).fill(1),
    cache: cache.window(0, batch),
  });
}

function expectRow({ logits }: InferOutputs, row: number, expected: Float32Array | undefined): void {
  const size = tinyConfig.vocabularySize;
  if (expected === undefined) throw new Error("Nothing to compare with");
  expect(relativeError(logits.subarray(row * size, (row + 1) * size), expected)).toBeLessThan(1e-4);
}

/** Logits after each position of each sequence, from the training graph. */
async function fullLogits(policy: Policy): Promise<Float32Array[][]> {
  const graph = trainGraph(policy, { maxPositions: POSITIONS, logits: true });
  const session = await GraphSession.create(graph, { threads: 1 });
  const size = policy.config.vocabularySize;
  const result: Float32Array[][] = [];
  for (const ids of sequences) {
    // One token more, so that the last real position predicts something as well.
    const masked = [{ ids: [...ids, 0], wanted: [false, ...ids.map(() => true)] }];
    const [part] = microBatches(masked, { sequences: 1 });
    if (part === undefined) throw new Error("No batch");
    const feeds = { ...policy.feeds(), ...microBatchFeeds(part, 1) };
    const logits = (await session.run(feeds, { logits: null })).logits?.data as Float32Array;
    result.push(ids.map((_, position) => logits.slice(position * size, (position + 1) * size)));
  }
  await session.close();
  return result;
}
