import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EngineSetup, GenerateRequest, TrainBatch, TrainStepResult } from "./engine-api.ts";
import { InferSession } from "./models/infer-session.ts";
import { Policy } from "./models/policy.ts";
import { Scheduler } from "./sample/scheduler.ts";
import type { SequenceListener } from "./sample/sequence.ts";
import { Scorer } from "./train/scorer.ts";
import { Trainer } from "./train/trainer.ts";

/**
 * Parameters from which on frozen weights are copied into the layout that decodes fastest. Below, what it
 * gains is lost in the noise; above, it decodes 1.5 to 2.5 times faster for twice the memory.
 */
const WORTH_PACKING = 20_000_000;

/**
 * The engine itself. Its calls block the thread it lives on, so it lives in a worker; see `worker.ts`.
 * Decode steps and training steps never overlap: a training step waits for the decode step under way.
 */
export class EngineHost {
  readonly #policy: Policy;
  readonly #infer: InferSession;
  readonly #scheduler: Scheduler;
  readonly #trainer: Trainer | undefined;
  readonly #scorer: Scorer | undefined;
  readonly #afterStep: () => void;
  /** Whatever uses the weights, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #decoding: Promise<void> | undefined;
  #closed = false;

  private constructor(parts: {
    policy: Policy;
    infer: InferSession;
    scheduler: Scheduler;
    trainer: Trainer | undefined;
    scorer: Scorer | undefined;
    afterStep: () => void;
  }) {
    this.#policy = parts.policy;
    this.#infer = parts.infer;
    this.#scheduler = parts.scheduler;
    this.#trainer = parts.trainer;
    this.#scorer = parts.scorer;
    this.#afterStep = parts.afterStep;
  }

  /**
   * Loads a model and prepares what the setup asks for. `afterStep` is called after each decode step.
   *
   * @throws SpotterError `model_not_found`, `model_unsupported`, `model_corrupt` or `invalid_input`.
   */
  static async create(setup: EngineSetup, afterStep: () => void): Promise<EngineHost> {
    const { modelDir, adapterDir, trainer: training } = setup;
    const policy = await Policy.load(modelDir, adapterDir === undefined ? {} : { adapterDir });
    const maxPositions = Math.min(setup.maxPositions ?? Infinity, policy.config.maxPositions);
    const params = { threads: setup.threads, spinning: setup.spinning ?? false, maxPositions };
    // First, for it may give the policy an adapter.
    const trainer = training && (await Trainer.create(policy, training, params));
    const frozen = training === undefined || policy.adapter !== undefined;
    const infer = await InferSession.create(policy, {
      ...params,
      base: frozen && policy.parameters.elements >= WORTH_PACKING ? "packed" : "shared",
    });
    const scheduler = new Scheduler(infer, policy.config, { slots: setup.slots });
    const scorer = trainer === undefined ? new Scorer(policy, params) : undefined;
    return new EngineHost({ policy, infer, scheduler, trainer, scorer, afterStep });
  }

  /** Queues a request; returns the way to abort it. Throws for a request that cannot be met. */
  generate(request: GenerateRequest, listener: SequenceListener): () => void {
    const abort = this.#scheduler.add(request, listener);
    this.#decoding ??= this.#decode();
    return abort;
  }

  score(sequences: number[][], which: "policy" | "reference", temperature: number): Promise<number[][]> {
    return this.#inTurn(async () => {
      if (this.#trainer !== undefined) return this.#trainer.score(sequences, which, temperature);
      if (this.#scorer !== undefined && which === "policy") return this.#scorer.score(sequences, temperature);
      throw notTraining("has no reference model");
    });
  }

  trainStep(batch: TrainBatch): Promise<TrainStepResult> {
    return this.#inTurn(async () => this.#training().step(batch));
  }

  saveModel(dir: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#policy.adapter === undefined) await this.#policy.save(dir);
      else await this.#policy.saveAdapter(dir);
    });
  }

  saveTrainerState(dir: string): Promise<void> {
    return this.#inTurn(async () => this.#training().saveState(dir));
  }

  loadTrainerState(dir: string): Promise<void> {
    return this.#inTurn(async () => this.#training().loadState(dir));
  }

  /** Ends after the step under way; requests that are left hear nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#decoding;
    await this.#inTurn(async () => {
      await this.#infer.close();
      await this.#trainer?.close();
      await this.#scorer?.close();
    });
  }

  #training(): Trainer {
    if (this.#trainer === undefined) throw notTraining("was started to serve only");
    return this.#trainer;
  }

  async #decode(): Promise<void> {
    while (this.#scheduler.busy && !this.#closed) {
      await this.#inTurn(() => this.#scheduler.step());
      this.#afterStep();
    }
    this.#decoding = undefined;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function notTraining(what: string): SpotterError {
  return new SpotterError("invalid_input", `This engine ${what}.`, {
    where: "trainer",
    hint: "Start it with a trainer in its setup.",
  });
}
