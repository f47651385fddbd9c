import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EngineSetup, GenerateRequest, Scored, TrainBatch, TrainStepResult } from "./engine-api.ts";
import { InferSession } from "./models/infer-session.ts";
import { Policy } from "./models/policy.ts";
import { Constraints } from "./sample/constraint/constraints.ts";
import type { TokenMask } from "./sample/constraint/token-mask.ts";
import { Scheduler } from "./sample/scheduler.ts";
import type { SequenceListener } from "./sample/sequence.ts";
import { modelTokenBytes } from "./text/model-texts.ts";
import { Scorer } from "./train/scorer.ts";
import { Trainer } from "./train/trainer.ts";

const PREFIX_CACHE_MIB = 256;

interface HostParams {
  threads: number;
  spinning: boolean;
  maxPositions: number;
}

/**
 * The engine itself. Its calls block the thread it lives on, so it lives in a worker; see `worker.ts`.
 * Decode steps and training steps never overlap: a training step waits for the decode step under way.
 */
export class EngineHost {
  readonly #setup: EngineSetup;
  readonly #params: HostParams;
  readonly #infer: InferSession;
  readonly #scheduler: Scheduler;
  readonly #training: { trainer: Trainer; policy: Policy } | undefined;
  readonly #afterStep: () => void;
  readonly #constraints: Constraints;
  #scorer: Promise<Scorer> | undefined;
  /** Whatever uses the weights, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #decoding: Promise<void> | undefined;
  #closed = false;

  private constructor(parts: {
    setup: EngineSetup;
    params: HostParams;
    infer: InferSession;
    scheduler: Scheduler;
    training: { trainer: Trainer; policy: Policy } | undefined;
    afterStep: () => void;
  }) {
    this.#setup = parts.setup;
    this.#constraints = new Constraints(() => modelTokenBytes(parts.setup.modelDir));
    this.#params = parts.params;
    this.#infer = parts.infer;
    this.#scheduler = parts.scheduler;
    this.#training = parts.training;
    this.#afterStep = parts.afterStep;
  }

  /**
   * Loads a model and prepares what the setup asks for. `afterStep` is called after each decode step.
   *
   * @throws SpotterError `model_not_found`, `model_unsupported`, `model_corrupt` or `invalid_input`.
   */
  static async create(setup: EngineSetup, afterStep: () => void): Promise<EngineHost> {
    const policy = await loadPolicy(setup);
    const maxPositions = Math.min(setup.maxPositions ?? Infinity, policy.config.maxPositions);
    const params = { threads: setup.threads, spinning: setup.spinning ?? false, maxPositions };
    // First, for it may give the policy an adapter.
    const trainer = setup.trainer && (await Trainer.create(policy, setup.trainer, params));
    // Weights that never change are copied into the layout that decodes fastest: 1.2 times faster at 1M
    // parameters, twice at 135M. Who only serves then needs no other copy.
    const packed = trainer === undefined || policy.adapter !== undefined;
    const infer = await InferSession.create(policy, {
      ...params,
      base: packed ? "packed" : "shared",
      adapter: trainer === undefined ? "packed" : "shared",
    });
    const keepBytes = trainer === undefined ? (setup.prefixCacheMiB ?? PREFIX_CACHE_MIB) * 2 ** 20 : 0;
    const scheduler = new Scheduler(infer, policy.config, { slots: setup.slots, keepBytes });
    const training = trainer && { trainer, policy };
    return new EngineHost({ setup, params, infer, scheduler, training, afterStep });
  }

  /** Queues a request; returns the way to abort it. Throws for a request that cannot be met. */
  generate(request: GenerateRequest, listener: SequenceListener): () => void {
    if (request.grammar === undefined) return this.#add(request, listener);
    let abort: (() => void) | undefined;
    let aborted = false;
    this.#constraints
      .maskOf(request.grammar, request.stopIds)
      .then((mask) => {
        if (!aborted && !this.#closed) abort = this.#add(request, listener, mask);
      })
      .catch((error: unknown) => listener.onError(SpotterError.from(error)));
    return () => {
      aborted = true;
      abort?.();
    };
  }

  score(sequences: number[][], which: Scored, temperature: number): Promise<number[][]> {
    return this.#inTurn(async () => {
      if (this.#training !== undefined) return this.#training.trainer.score(sequences, which, temperature);
      if (which !== "policy") throw notTraining(`has no ${which}`);
      this.#scorer ??= loadPolicy(this.#setup).then((policy) => new Scorer(policy, this.#params));
      return (await this.#scorer).score(sequences, temperature);
    });
  }

  trainStep(batch: TrainBatch): Promise<TrainStepResult> {
    return this.#inTurn(async () => this.#trainer().step(batch));
  }

  saveModel(dir: string): Promise<void> {
    return this.#inTurn(async () => {
      const policy = this.#training?.policy ?? (await loadPolicy(this.#setup));
      if (policy.adapter === undefined) await policy.save(dir);
      else await policy.saveAdapter(dir);
    });
  }

  saveTrainerState(dir: string): Promise<void> {
    return this.#inTurn(async () => this.#trainer().saveState(dir));
  }

  loadTrainerState(dir: string): Promise<void> {
    return this.#inTurn(async () => this.#trainer().loadState(dir));
  }

  /** Ends after the step under way; requests that are left hear nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#decoding;
    await this.#inTurn(async () => {
      await this.#infer.close();
      await this.#training?.trainer.close();
      await (await this.#scorer)?.close();
    });
  }

  #trainer(): Trainer {
    if (this.#training === undefined) throw notTraining("was started to serve only");
    return this.#training.trainer;
  }

  #add(request: GenerateRequest, listener: SequenceListener, mask?: TokenMask): () => void {
    const abort = this.#scheduler.add(request, listener, mask);
    // A request that wants no token is never queued; nothing would ever be decoded again.
    if (this.#scheduler.busy) this.#decoding ??= this.#decode();
    return abort;
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

function loadPolicy({ modelDir, adapterDir }: EngineSetup): Promise<Policy> {
  return Policy.load(modelDir, adapterDir === undefined ? {} : { adapterDir });
}

function notTraining(what: string): SpotterError {
  return new SpotterError("invalid_input", `This engine ${what}.`, {
    where: "trainer",
    hint: "Start it with a trainer in its setup.",
  });
}
