import type { Tensor } from "onnxruntime-node";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { PASS_LOGITS } from "../../../sdk/schema/trainer-spec.ts";
import type { Scored, TrainBatch, TrainerSetup, TrainStepResult } from "../engine-api.ts";
import type { SessionParams, Tensors } from "../graph/session.ts";
import { ParameterSet } from "../models/parameter-set.ts";
import type { Policy } from "../models/policy.ts";
import { gradientName } from "../models/train-graph.ts";
import { Critic } from "./critic.ts";
import { CriticRows } from "./critic-rows.ts";
import { elementOf, microBatchFeeds } from "./feeds.ts";
import { randomAdapter } from "./init.ts";
import { LossMetrics } from "./loss-metrics.ts";
import { checkBatch, divisors, objectiveFeeds } from "./losses.ts";
import { checkIds, microBatches, type MaskedSequence, type MicroBatch } from "./micro-batches.ts";
import { ObjectiveSessions } from "./objective-sessions.ts";
import { objectiveShape } from "./objective-shape.ts";
import { createOptimizer } from "./optimizers/index.ts";
import type { Optimizer } from "./optimizers/optimizer.ts";
import { packedBatches } from "./packing.ts";
import { Scorer } from "./scorer.ts";
import { loadTrainerState, saveTrainerState, type TrainerState } from "./trainer-state.ts";

export interface TrainerParams extends SessionParams {
  /** Longest sequence. Default: what the model's configuration says. */
  maxPositions?: number;
}

/**
 * Trains a policy in place: its arrays change with each step, and every session that shares them sees it.
 * Equal policies, setups and batches on as many threads give equal bits.
 *
 * @example
 * const trainer = await Trainer.create(policy, { optimizer, reference: false, seed: 1 }, { threads: 2 });
 * const { loss } = await trainer.step(batch);
 * await policy.save("checkpoint");
 */
export class Trainer {
  readonly policy: Policy;
  readonly setup: TrainerSetup;
  readonly maxPositions: number;
  /** What is trained: the adapter's parameters, or all of the policy's. */
  readonly trainable: ParameterSet;
  readonly #optimizer: Optimizer;
  readonly #sessions: ObjectiveSessions;
  readonly #scorer: Scorer;
  readonly #critic: Critic | undefined;
  readonly #reference: ParameterSet | undefined;
  readonly #gradients: ParameterSet;
  /** Gradients of a further micro-batch before they are added; made when first needed. */
  #further: ParameterSet | undefined;

  private constructor(policy: Policy, setup: TrainerSetup, params: TrainerParams) {
    this.policy = policy;
    this.setup = setup;
    this.maxPositions = params.maxPositions ?? policy.config.maxPositions;
    this.trainable = trainableOf(policy);
    this.#optimizer = createOptimizer(this.trainable, setup.optimizer, params);
    this.#reference = setup.reference ? this.trainable.clone() : undefined;
    this.#gradients = new ParameterSet([...this.trainable]);
    const session = { ...params, maxPositions: this.maxPositions };
    this.#critic = setup.critic && new Critic(policy, setup.critic, session);
    this.#sessions = new ObjectiveSessions(policy, {
      ...session,
      trainable: this.trainable,
      ...(this.#critic && { hidden: "also" }),
    });
    this.#scorer = new Scorer(policy, session);
  }

  /**
   * Prepares training. With `setup.lora` the policy's adapter is trained, a fresh one where it has none.
   *
   * @throws SpotterError `invalid_input` where the policy's adapter is not the one `setup.lora` asks for.
   */
  static async create(policy: Policy, setup: TrainerSetup, params: TrainerParams): Promise<Trainer> {
    prepareAdapter(policy, setup);
    const trainer = new Trainer(policy, setup, params);
    await trainer.#sessions.of(setup.objective);
    return trainer;
  }

  /**
   * One optimizer step. Nothing to learn, or a gradient of exactly 0, changes nothing.
   *
   * @throws SpotterError `invalid_input` or `context_length_exceeded` for a batch that does not fit,
   *   `numeric_failure` for a NaN or infinite gradient; weights and optimizer are as before then.
   */
  async step(batch: TrainBatch): Promise<TrainStepResult> {
    this.#check(batch);
    const by = divisors(batch);
    const metrics = new LossMetrics(batch, by);
    const logprobs: number[][] = batch.sequences.map(() => []);
    const sequences = batch.sequences.map(({ ids, mask }) => ({
      ids,
      wanted: mask.map((learnt) => learnt !== 0),
    }));
    const seen = new CriticRows();
    let first = true;
    for (const part of this.#parts(batch, sequences)) {
      const outputs = await this.#pass(batch, part, by, first);
      first = false;
      if (this.#critic !== undefined) seen.add(batch, part, outputs.hidden);
      const column = (name: string): number[] => part.places.map((_, row) => elementOf(outputs, name, row));
      const learnt = column("logprob");
      metrics.add(part, learnt, column("entropy"));
      for (const [row, place] of part.places.entries()) logprobs[place.sequence]?.push(learnt[row] ?? NaN);
    }
    const gradNorm = first ? 0 : await this.#optimizer.update(this.#gradients, batch.learningRate);
    const valueLoss = await this.#critic?.learn(seen.batch());
    return { ...metrics.result(), gradNorm, logprobs, ...(valueLoss !== undefined && { valueLoss }) };
  }

  /**
   * Log-probability of each token given those before it, 0 for the first; of the critic, its value before each.
   *
   * @throws SpotterError `invalid_input` for the reference or the critic of a trainer that keeps none.
   */
  async score(
    sequences: readonly (readonly number[])[],
    which: Scored,
    temperature: number,
  ): Promise<number[][]> {
    if (which === "reference" && this.#reference === undefined) {
      throw new SpotterError("invalid_input", "This trainer keeps no reference to score with.", {
        where: "reference",
        hint: "Set reference: true in the trainer's setup.",
      });
    }
    if (which === "critic") {
      if (this.#critic !== undefined) return this.#critic.values(sequences);
      throw new SpotterError("invalid_input", "This trainer keeps no critic.", {
        where: "critic",
        hint: "Set critic in the trainer's setup.",
      });
    }
    return this.#scorer.score(sequences, temperature, which === "reference" ? this.#reference : undefined);
  }

  /** Writes optimizer moments, step counter and the reference; weights are saved with the policy. */
  async saveState(dir: string): Promise<void> {
    await saveTrainerState(dir, this.#state());
  }

  /** Goes on from {@link saveState}; @throws SpotterError `model_corrupt` where it is of another training. */
  async loadState(dir: string): Promise<void> {
    await loadTrainerState(dir, this.#state());
  }

  #state(): TrainerState {
    return { optimizer: this.#optimizer, reference: this.#reference, critic: this.#critic };
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    await this.#scorer.close();
    await this.#optimizer.close();
    await this.#critic?.close();
  }

  #check(batch: TrainBatch): void {
    checkBatch(batch);
    const limits = { vocabularySize: this.policy.config.vocabularySize, maxPositions: this.maxPositions };
    for (const [index, { ids }] of batch.sequences.entries()) checkIds(ids, `sequences[${index}]`, limits);
  }

  /** The passes of a batch, none of which has more logits than memory can bear. */
  #parts({ microBatchSize, packTokens }: TrainBatch, sequences: MaskedSequence[]): MicroBatch[] {
    const tokens = Math.floor(PASS_LOGITS / this.policy.config.vocabularySize);
    const limits = { sequences: microBatchSize, tokens };
    return packTokens === undefined
      ? microBatches(sequences, limits)
      : packedBatches(sequences, { ...limits, rowTokens: Math.min(packTokens, this.maxPositions) });
  }

  /** Forward and backward of one micro-batch; its gradients land in, or are added to, the batch's. */
  async #pass(batch: TrainBatch, part: MicroBatch, by: number[], first: boolean): Promise<Tensors> {
    if (!first) this.#further ??= new ParameterSet([...this.trainable]);
    const target = first ? this.#gradients : (this.#further ?? this.#gradients);
    const fetches: Record<string, Tensor | null> = { logprob: null, entropy: null };
    if (this.#critic !== undefined) fetches["hidden"] = null;
    for (const { name, tensor } of target) fetches[gradientName(name)] = tensor;
    const feeds = {
      ...this.policy.feeds(),
      ...microBatchFeeds(part, batch.temperature),
      ...objectiveFeeds(batch, part, by),
    };
    const session = await this.#sessions.of(objectiveShape(batch), part.packing !== undefined);
    const outputs = await session.run(feeds, fetches);
    if (!first) addAll(this.#gradients, target);
    return outputs;
  }
}

function trainableOf(policy: Policy): ParameterSet {
  return policy.adapter?.parameters ?? policy.parameters;
}

function prepareAdapter(policy: Policy, { lora, seed }: TrainerSetup): void {
  const { adapter } = policy;
  if (adapter === undefined) {
    if (lora !== undefined) policy.adapter = randomAdapter(policy.config, lora, seed);
    return;
  }
  const has = { rank: adapter.rank, alpha: adapter.alpha, targets: [...adapter.targets].sort() };
  const wanted = lora && { rank: lora.rank, alpha: lora.alpha, targets: [...new Set(lora.targets)].sort() };
  if (JSON.stringify(has) === JSON.stringify(wanted)) return;
  throw new SpotterError(
    "invalid_input",
    `The adapter to train on is ${JSON.stringify(has)}, the setup asks for ${JSON.stringify(wanted ?? "full")}.`,
    { where: "lora", hint: "Ask for what the adapter has, or start without it." },
  );
}

function addAll(sum: ParameterSet, more: ParameterSet): void {
  for (const { name, data } of sum) {
    const other = more.get(name).data;
    for (let i = 0; i < data.length; i++) data[i] = (data[i] as number) + (other[i] as number);
  }
}
