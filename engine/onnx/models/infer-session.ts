import { Tensor } from "onnxruntime-node";
import { GraphSession, type SessionParams, type Tensors } from "../graph/session.ts";
import type { WeightMode } from "./graph-weights.ts";
import { cacheNames, inferGraph } from "./infer-graph.ts";
import { writeNews, type KvWindow } from "./kv-cache.ts";
import type { LlamaConfig } from "./llama-config.ts";
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
  /**
   * For each sequence the token of `ids` whose successor is wanted, counted within the sequence: 0 when
   * decoding. For a batch of one there may be several.
   */
  last: BigInt64Array;
  /** As many as `last`. */
  invTemperature: Float32Array;
  /** As many slots as the batch has sequences; the new positions are written into it. */
  cache: KvWindow;
}

/** Both [rows, V], a row for each element of `last`. Good until the session's next run. */
export interface InferOutputs {
  probs: Float32Array;
  logits: Float32Array;
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
  readonly #config: LlamaConfig;
  /** What the last run gave. */
  #given: Float32Array[] = [];

  private constructor(session: GraphSession, weights: Tensors, config: LlamaConfig, maxPositions: number) {
    this.#session = session;
    this.#weights = weights;
    this.#config = config;
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
    return new InferSession(session, weights, policy.config, maxPositions);
  }

  /** The probabilities alone: each output costs a copy. */
  async run(feeds: InferFeeds): Promise<Pick<InferOutputs, "probs">> {
    const { probs } = await this.#run(feeds, { probs: null, new_cache: null });
    return { probs: this.#give(probs) };
  }

  async runWithLogits(feeds: InferFeeds): Promise<InferOutputs> {
    const { probs, logits } = await this.#run(feeds, { probs: null, logits: null, new_cache: null });
    return { probs: this.#give(probs), logits: this.#give(logits) };
  }

  #give(tensor: Tensor | undefined): Float32Array {
    const data = floats(tensor);
    this.#given.push(data);
    return data;
  }

  async #run(feeds: InferFeeds, fetches: Record<string, null>): Promise<Tensors> {
    for (const data of this.#given.splice(0)) free(data);
    const { batch, layers } = feeds.cache;
    const { keyValueHeads } = this.#config;
    const count = feeds.ids.length / batch;
    const starts = newStarts(feeds, count);
    const inputs: Tensors = {
      ...this.#weights,
      ids: new Tensor("int64", feeds.ids, [batch, count]),
      seqlens_k: new Tensor("int32", feeds.seqlensK, [batch]),
      total: new Tensor("int32", Int32Array.of(feeds.total), []),
      rows: new Tensor("int64", wantedRows(feeds.last, batch, count), [feeds.last.length]),
      inv_temperature: new Tensor("float32", feeds.invTemperature, [feeds.last.length, 1]),
      new_positions: new Tensor("int64", newPositions(starts, keyValueHeads, count), [
        batch,
        keyValueHeads,
        count,
        1,
      ]),
    };
    for (const [layer, { key, value }] of layers.entries()) {
      const names = cacheNames(layer);
      inputs[names.pastKey] = key;
      inputs[names.pastValue] = value;
    }
    const outputs = await this.#session.run(inputs, fetches);
    const news = floats(outputs["new_cache"]);
    writeNews(feeds.cache, news, starts, count);
    free(news);
    return outputs;
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

/** Where the new tokens of each sequence begin: a first prompt at 0 whatever its padding, others at their end. */
function newStarts({ seqlensK, total }: InferFeeds, count: number): number[] {
  const isPrompt = count > 1 && total === count;
  return Array.from(seqlensK, (last) => (isPrompt ? 0 : last + 1 - count));
}

function wantedRows(last: BigInt64Array, batch: number, count: number): BigInt64Array {
  return batch === 1 ? last : last.map((row, sequence) => row + BigInt(sequence * count));
}

function newPositions(starts: number[], heads: number, count: number): BigInt64Array {
  const positions = new BigInt64Array(starts.length * heads * count);
  let at = 0;
  for (const start of starts)
    for (let head = 0; head < heads; head++)
      for (let i = 0; i < count; i++) positions[at++] = BigInt(start + i);
  return positions;
}

/**
 * Gives memory back at once. Every output is memory of its own: left to the collector, a few steps of them make it
 * run, on the cores that the next step computes on.
 */
function free({ buffer }: Float32Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new RangeError("The runtime gave no numbers");
}
