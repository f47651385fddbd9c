import type { CriticSetup } from "../engine-api.ts";
import { GraphSession, type SessionParams } from "../graph/session.ts";
import { ParameterSet } from "../models/parameter-set.ts";
import type { Policy } from "../models/policy.ts";
import { trainGraph } from "../models/train-graph.ts";
import { microBatchFeeds } from "./feeds.ts";
import { microBatches } from "./micro-batches.ts";
import { createOptimizer } from "./optimizers/index.ts";
import type { Optimizer } from "./optimizers/optimizer.ts";

const WEIGHT = "critic.weight";
const BIAS = "critic.bias";
/** Of a pass that only reads. */
const MAX_TOKENS = 4096;

/** What a step told of tokens: hidden states [M, D], what came of them, and what was expected. */
export interface CriticBatch {
  hidden: Float32Array;
  returns: readonly number[];
  values: readonly number[];
}

/**
 * What is to be expected of an answer so far: `w h + b` of the policy's last hidden state, learnt with a rate of its
 * own. The policy's weights are not moved by it. It begins at the mean of the first returns it sees.
 */
export class Critic {
  readonly parameters: ParameterSet;
  readonly optimizer: Optimizer;
  readonly #policy: Policy;
  readonly #setup: CriticSetup;
  readonly #params: SessionParams & { maxPositions: number };
  #session: Promise<GraphSession> | undefined;

  constructor(policy: Policy, setup: CriticSetup, params: SessionParams & { maxPositions: number }) {
    this.#policy = policy;
    this.#setup = setup;
    this.#params = params;
    this.parameters = new ParameterSet([
      { name: WEIGHT, shape: [1, policy.config.hiddenSize], parts: [{ name: WEIGHT, rows: 1 }] },
      { name: BIAS, shape: [1], parts: [{ name: BIAS, rows: 1 }] },
    ]);
    // At the mean return the gradient of the bias is rounding alone, which a smaller epsilon would blow up to a step.
    const adam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-5, weightDecay: 0, maxGradNorm: 0 };
    this.optimizer = createOptimizer(this.parameters, { type: "adamw", ...adam }, params);
  }

  /** By sequence, the value before each token; entry 0 is 0. */
  async values(sequences: readonly (readonly number[])[]): Promise<number[][]> {
    const session = await (this.#session ??= this.#create());
    const result = sequences.map((ids) => ids.map(() => 0));
    const masked = sequences.map((ids) => ({ ids, wanted: ids.map((_, position) => position > 0) }));
    for (const part of microBatches(masked, { sequences: masked.length, tokens: MAX_TOKENS })) {
      const feeds = { ...this.#policy.feeds(), ...microBatchFeeds(part, 1) };
      const { hidden } = await session.run(feeds, { hidden: null });
      const values = this.#valuesOf(hidden?.data as Float32Array);
      for (const [index, { sequence, position }] of part.places.entries()) {
        const row = result[sequence];
        if (row !== undefined) row[position] = values[index] ?? NaN;
      }
    }
    return result;
  }

  /**
   * Learns from a step, several updates of all its tokens: `mean of 1/2 max((v - R)², (v' - R)²)`, `v'` being `v` held
   * within `clip` of the value before the step (arXiv:1707.06347; https://iclr-blog-track.github.io/2022/03/25/ppo-implementation-details/).
   *
   * @returns the loss before the first update
   */
  async learn({ hidden, returns, values }: CriticBatch): Promise<number> {
    if (returns.length === 0) return 0;
    let old = values;
    if (this.optimizer.step === 0) {
      const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
      this.parameters.get(BIAS).data[0] = mean;
      old = this.#valuesOf(hidden);
    }
    let first: number | undefined;
    const gradients = new ParameterSet([...this.parameters]);
    for (let update = 0; update < this.#setup.updates; update++) {
      const loss = this.#gradients(gradients, { hidden, returns, values: old });
      first ??= loss;
      await this.optimizer.update(gradients, this.#setup.learningRate);
    }
    return first ?? 0;
  }

  async close(): Promise<void> {
    await (await this.#session)?.close();
    await this.optimizer.close();
  }

  #valuesOf(hidden: Float32Array): number[] {
    const weight = this.parameters.get(WEIGHT).data;
    const bias = this.parameters.get(BIAS).data[0] ?? 0;
    const size = weight.length;
    return Array.from({ length: hidden.length / size }, (_, row) => {
      let sum = bias;
      for (let i = 0; i < size; i++) sum += (weight[i] as number) * (hidden[row * size + i] as number);
      return sum;
    });
  }

  /** Fills in the gradients of the loss, and returns it. */
  #gradients(gradients: ParameterSet, { hidden, returns, values }: CriticBatch): number {
    const { clip } = this.#setup;
    const now = this.#valuesOf(hidden);
    const weight = gradients.get(WEIGHT).data.fill(0);
    const sums = new Float64Array(weight.length);
    let bias = 0;
    let loss = 0;
    for (const [row, value] of now.entries()) {
      const target = returns[row] ?? 0;
      const before = values[row] ?? 0;
      const held = Math.min(before + clip, Math.max(before - clip, value));
      const [free, bounded] = [(value - target) ** 2, (held - target) ** 2];
      loss += Math.max(free, bounded) / 2;
      // Where the bound is the larger, it does not move with the value.
      if (bounded > free) continue;
      const error = (value - target) / now.length;
      bias += error;
      for (let i = 0; i < sums.length; i++) {
        sums[i] = (sums[i] as number) + error * (hidden[row * sums.length + i] as number);
      }
    }
    weight.set(sums);
    gradients.get(BIAS).data[0] = bias;
    return loss / now.length;
  }

  #create(): Promise<GraphSession> {
    const graph = trainGraph(this.#policy, { maxPositions: this.#params.maxPositions, hidden: "only" });
    return GraphSession.create(graph, this.#params);
  }
}
