import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type { TrainBatch } from "../../../../engine/onnx/engine-api.ts";
import { GraphSession, type Tensors } from "../../../../engine/onnx/graph/session.ts";
import { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { ParameterSet } from "../../../../engine/onnx/models/parameter-set.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { gradientName, trainGraph } from "../../../../engine/onnx/models/train-graph.ts";
import { Scheduler } from "../../../../engine/onnx/sample/scheduler.ts";
import { microBatchFeeds } from "../../../../engine/onnx/train/feeds.ts";
import { divisors, objectiveFeeds } from "../../../../engine/onnx/train/losses.ts";
import { microBatches } from "../../../../engine/onnx/train/micro-batches.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { SafetensorsFile } from "../../../../engine/onnx/weights/safetensors.ts";
import { add, finish } from "../sample/scheduling.ts";
import { batch, setup } from "../support/batches.ts";
import { fixture, readFixture, relativeError } from "../support/fixtures.ts";
import { temporaryFolder } from "../support/temporary.ts";

const FAMILIES = ["llama3", "qwen2", "qwen3"];

/** What Transformers computed, for the learnt tokens in order. */
interface Values {
  loss: number;
  logprobs: number[];
  logits: number[][];
}

/** Written by test/reference/families.py. */
interface Reference {
  versions: Record<string, string>;
  script: string;
  sequences: TrainBatch["sequences"];
  full: Values;
  lora: Values;
  greedy: { prompt: number[]; ids: number[]; lead: number }[];
}

describe.each(FAMILIES)("%s, as Transformers saves it", (family) => {
  it.each(["full", "lora"] as const)("has its logits, log-probabilities and gradients, %s", async (kind) => {
    const policy = await load(family, kind);
    const { logits, logprobs, gradients } = await pass(policy, reference(family).sequences);
    const expected = reference(family)[kind];
    expect(relativeError(logits, expected.logits.flat())).toBeLessThan(1e-5);
    expect(relativeError(logprobs, expected.logprobs)).toBeLessThan(1e-5);
    const file = await SafetensorsFile.open(fixture(`families/${family}/gradients-${kind}.safetensors`));
    const ours = gradients.diskTensors();
    expect(new Set(ours.map(({ name }) => name))).toEqual(new Set(file.tensors.keys()));
    for (const { name, data } of ours) {
      const theirs = new Float32Array(data.length);
      await file.readInto(name, theirs);
      expect(relativeError(data, theirs), name).toBeLessThan(1e-5);
    }
    await file.close();
  });

  it.each([undefined, { rank: 3, alpha: 6, targets: ["q_proj", "k_proj", "v_proj"] }])(
    "learns from its first loss down, adapter %j",
    async (lora) => {
      const { sequences, full } = reference(family);
      const trainer = await Trainer.create(await load(family, "full"), { ...setup, lora }, { threads: 1 });
      const learnt = batch({ sequences, learningRate: 3e-3, microBatchSize: 2 });
      const first = await trainer.step(learnt);
      expect(first.loss).toBeCloseTo(full.loss, 5);
      let { loss } = first;
      for (let step = 0; step < 5; step++) ({ loss } = await trainer.step(learnt));
      expect(loss).toBeLessThan(first.loss - 0.05);
      await trainer.close();
    },
  );

  it.each(["shared", "packed"] as const)("answers as there, alone and beside others, %s", async (base) => {
    const policy = await load(family, "full");
    const session = await InferSession.create(policy, { threads: 1, base });
    const { greedy } = reference(family);
    const decode = async (slots: number) => {
      const scheduler = new Scheduler(session, policy.config, { slots });
      const outcomes = greedy.map(({ prompt, ids }) =>
        add(scheduler, { promptIds: prompt, maxNewTokens: ids.length }),
      );
      await finish(scheduler);
      return outcomes.map(({ ids }) => ids);
    };
    const together = await decode(greedy.length);
    expect(together).toEqual(greedy.map(({ ids }) => ids));
    expect(await decode(1)).toEqual(together);
    await session.close();
  });

  it("is the same model once it is saved here and loaded again", async () => {
    await using folder = await temporaryFolder();
    const policy = await load(family, "full");
    await policy.save(folder.path);
    const again = await Policy.load(folder.path);
    expect(again.config).toEqual(policy.config);
    const tensors = again.parameters.diskTensors();
    expect(tensors).toEqual(policy.parameters.diskTensors());
  });

  it("was measured by the script as it is", async () => {
    const script = await readFile(fileURLToPath(new URL("../../../reference/families.py", import.meta.url)));
    expect(reference(family).script).toBe(createHash("sha256").update(script).digest("hex"));
    for (const version of Object.values(reference(family).versions)) expect(version).toMatch(/^\d+\.\d+/);
  });
});

// Were a term left out, the tests above would have to fail.
describe("the logits of", () => {
  it.each([
    ["llama3", "the stretched positions", withoutScaling],
    ["qwen2", "the biases", (policy: Policy) => fillOf(policy, /\.bias$/, 0)],
    ["qwen3", "the norm of the query's heads", (policy: Policy) => fillOf(policy, /\.q_norm\./, 1)],
    ["qwen3", "the norm of the key's heads", (policy: Policy) => fillOf(policy, /\.k_norm\./, 1)],
  ])("%s depend on %s", async (family, _term, without) => {
    const { sequences, full } = reference(family);
    const { logits } = await pass(without(await load(family, "full")), sequences);
    expect(relativeError(logits, full.logits.flat())).toBeGreaterThan(1e-2);
  });
});

function reference(family: string): Reference {
  return readFixture(`families/${family}/reference.json`) as Reference;
}

function load(family: string, kind: "full" | "lora"): Promise<Policy> {
  const folder = fixture(`families/${family}`);
  return Policy.load(folder, kind === "lora" ? { adapterDir: `${folder}/adapter` } : {});
}

function withoutScaling(policy: Policy): Policy {
  const { ropeScaling, ...config } = policy.config;
  expect(ropeScaling).toBeDefined();
  const plain = new Policy(config);
  for (const { name, data } of policy.parameters) plain.parameters.get(name).data.set(data);
  return plain;
}

function fillOf(policy: Policy, names: RegExp, value: number): Policy {
  const found = [...policy.parameters].filter(({ name }) => names.test(name));
  expect(found).toHaveLength(policy.config.layers);
  for (const { data } of found) data.fill(value);
  return policy;
}

interface Pass {
  logits: number[];
  logprobs: number[];
  gradients: ParameterSet;
}

/** One forward and backward pass; logits and log-probabilities in the order of the sequences. */
async function pass(policy: Policy, sequences: TrainBatch["sequences"]): Promise<Pass> {
  const trainable = policy.adapter?.parameters ?? policy.parameters;
  const gradients = new ParameterSet([...trainable]);
  const graph = trainGraph(policy, { maxPositions: 32, trainable, logits: true });
  const session = await GraphSession.create(graph, { threads: 1 });
  const learnt = batch({ sequences, loss: "sft" });
  const masked = sequences.map(({ ids, mask }) => ({ ids, wanted: mask.map(Boolean) }));
  const [part] = microBatches(masked, { sequences: 8 });
  if (part === undefined) throw new Error("Nothing to learn");
  const fetches: Record<string, Tensor | null> = { logprob: null, logits: null };
  for (const { name, tensor } of gradients) fetches[gradientName(name)] = tensor;
  const feeds = {
    ...policy.feeds(),
    ...microBatchFeeds(part, 1),
    ...objectiveFeeds(learnt, part, divisors(learnt)),
  };
  const outputs = await session.run(feeds, fetches);
  const size = policy.config.vocabularySize;
  const logits = floats(outputs, "logits");
  const logprobs = floats(outputs, "logprob");
  // The longest sequence is first in a batch.
  const order = [...part.places.keys()].sort((a, b) => {
    const [left, right] = [part.places[a], part.places[b]];
    return left && right ? left.sequence - right.sequence || left.position - right.position : 0;
  });
  const result = {
    logits: order.flatMap((row) => [...logits.subarray(row * size, (row + 1) * size)]),
    logprobs: order.map((row) => logprobs[row] ?? NaN),
    gradients,
  };
  await session.close();
  return result;
}

function floats(outputs: Tensors, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new Error(`No ${name}`);
}
