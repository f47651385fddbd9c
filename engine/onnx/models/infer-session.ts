import { Tensor } from "onnxruntime-node";
import { GraphSession, type SessionParams, type Tensors } from "../graph/session.ts";
import type { WeightMode } from "./graph-weights.ts";
import { cacheNames, inferGraph } from "./infer-graph.ts";
import type { KvWindow } from "./kv-cache.ts";
import type { Policy } from "./policy.ts";

export interface InferSessionParams extends SessionParams {
  /**
   * Default: `shared`. `packed` decodes 1.5 to 2.5 times faster at 135M parameters and costs a copy of the
   * weights; updates to them are not seen.
   */
  base?: WeightMode;
  /** Default: `shared`, so that a training step on the adapter is seen at once. */
  adapter?: WeightMode;
  /** Longest sequence. Default: what the model's configuration says. */
  maxPositions?: number;
}

/** What one run takes; shapes and meaning as {@link inferGraph} lists them, batch-major. */
export interface InferFeeds {
  /** batch * newTokens ids. */
  ids: BigInt64Array;
  seqlensK: Int32Array;
  total: number;
  last: BigInt64Array;
  invTemperature: Float32Array;
  /** As many slots as the batch has sequences; written in place. */
  cache: KvWindow;
}

/** Both [batch, V], valid until the next run. */
export interface InferOutputs {
  logits: Float32Array;
  probs: Float32Array;
}

/**
 * Runs prefill and decode steps of a policy. Runs block the calling thread and must not overlap.
 *
 * @example
 * const session = await InferSession.create(policy, { threads: 2 });
 * const cache = new KvCache(policy.config, 1, 64);
 * const { probs } = await session.run({
 *   ids: BigInt64Array.of(1n), seqlensK: Int32Array.of(0), total: 1, last: BigInt64Array.of(0n),
 *   invTemperature: Float32Array.of(1), cache: cache.window(0, 1),
 * });
 */
export class InferSession {
  readonly maxPositions: number;
  readonly #session: GraphSession;
  readonly #weights: Tensors;
  readonly #vocabularySize: number;
  /** Output tensors per batch size, over the same two arrays. */
  readonly #outputs = new Map<number, { logits: Tensor; probs: Tensor }>();
  #buffers = { logits: new Float32Array(0), probs: new Float32Array(0) };

  private constructor(session: GraphSession, weights: Tensors, vocabularySize: number, maxPositions: number) {
    this.#session = session;
    this.#weights = weights;
    this.#vocabularySize = vocabularySize;
    this.maxPositions = maxPositions;
  }

  static async create(policy: Policy, params: InferSessionParams): Promise<InferSession> {
    const { base = "shared", adapter = "shared", maxPositions = policy.config.maxPositions } = params;
    const graph = inferGraph(policy, { base, adapter, maxPositions });
    const session = await GraphSession.create(graph, params);
    const weights = {
      ...(base === "shared" ? policy.parameters.feeds() : {}),
      ...(adapter === "shared" ? policy.adapter?.parameters.feeds() : {}),
    };
    return new InferSession(session, weights, policy.config.vocabularySize, maxPositions);
  }

  async run(feeds: InferFeeds): Promise<InferOutputs> {
    const { batch } = feeds.cache;
    const { logits, probs } = this.#outputTensors(batch);
    const inputs: Tensors = {
      ...this.#weights,
      ids: new Tensor("int64", feeds.ids, [batch, feeds.ids.length / batch]),
      seqlens_k: new Tensor("int32", feeds.seqlensK, [batch]),
      total: new Tensor("int32", Int32Array.of(feeds.total), []),
      last: new Tensor("int64", feeds.last, [batch, 1]),
      inv_temperature: new Tensor("float32", feeds.invTemperature, [batch, 1]),
    };
    const fetches: Tensors = { logits, probs };
    for (const [layer, { key, value }] of feeds.cache.layers.entries()) {
      const names = cacheNames(layer);
      inputs[names.pastKey] = key;
      inputs[names.pastValue] = value;
      fetches[names.presentKey] = key;
      fetches[names.presentValue] = value;
    }
    await this.#session.run(inputs, fetches);
    const elements = batch * this.#vocabularySize;
    return {
      logits: this.#buffers.logits.subarray(0, elements),
      probs: this.#buffers.probs.subarray(0, elements),
    };
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  #outputTensors(batch: number): { logits: Tensor; probs: Tensor } {
    const known = this.#outputs.get(batch);
    if (known !== undefined) return known;
    const elements = batch * this.#vocabularySize;
    if (this.#buffers.logits.length < elements) {
      this.#buffers = { logits: new Float32Array(elements), probs: new Float32Array(elements) };
      this.#outputs.clear();
    }
    const tensor = (data: Float32Array): Tensor =>
      new Tensor("float32", data.subarray(0, elements), [batch, this.#vocabularySize]);
    const made = { logits: tensor(this.#buffers.logits), probs: tensor(this.#buffers.probs) };
    this.#outputs.set(batch, made);
    return made;
  }
}
