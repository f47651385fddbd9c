import type { Worker } from "node:worker_threads";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type {
  EngineApi,
  EngineSetup,
  GenerateOptions,
  GenerateRequest,
  GenerateResult,
  Scored,
  TokenChunk,
  TrainStepResult,
} from "./engine-api.ts";
import { fromWire, type Call, type FromWorker, type Result, type ToWorker } from "./messages.ts";
import { spawnEngineWorker } from "./spawn-worker.ts";

/**
 * Starts an engine in a worker thread. The caller must `close()` it.
 *
 * @param worker a worker of {@link spawnEngineWorker}, where one was started ahead of time
 * @throws SpotterError with the code of what is wrong with the model or the setup.
 * @example
 * const engine = await startEngine({ modelDir: "engine/models/nano", threads: 2, slots: 32 });
 * const { ids } = await engine.generate({
 *   promptIds: [3, 40, 1, 4], maxNewTokens: 32, temperature: 1, topP: 1, topK: 0, seed: 1, stopIds: [1],
 * });
 * await engine.close();
 */
export async function startEngine(setup: EngineSetup, worker = spawnEngineWorker()): Promise<EngineApi> {
  const client = new EngineClient(worker);
  try {
    await client.call({ method: "start", setup });
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
}

interface Pending {
  resolve(result: Result): void;
  reject(error: Error): void;
  onTokens?: ((chunk: TokenChunk) => void) | undefined;
}

/** @internal */
export class EngineClient implements EngineApi {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  readonly #outbox: ToWorker[] = [];
  #nextId = 0;
  #dead: SpotterError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (news: FromWorker[]) => news.forEach((item) => this.#receive(item)));
    worker.on("messageerror", (error) => this.#fail(crashed(error.message, error)));
    worker.on("error", (error) =>
      this.#fail(crashed(error instanceof Error ? error.message : String(error), error)),
    );
    this.#exited = new Promise((resolve) => {
      worker.on("exit", (code) => {
        this.#fail(crashed(`exit code ${code}`));
        resolve();
      });
    });
  }

  async generate(request: GenerateRequest, options: GenerateOptions = {}): Promise<GenerateResult> {
    const { onTokens, signal } = options;
    return (await this.call(
      { method: "generate", request, stream: onTokens !== undefined },
      {
        onTokens,
        signal,
      },
    )) as GenerateResult;
  }

  async score(sequences: number[][], which: Scored, temperature: number): Promise<number[][]> {
    return (await this.call({ method: "score", sequences, which, temperature })) as number[][];
  }

  async trainStep(batch: Parameters<EngineApi["trainStep"]>[0]): Promise<TrainStepResult> {
    return (await this.call({ method: "trainStep", batch })) as TrainStepResult;
  }

  async saveModel(dir: string): Promise<void> {
    await this.call({ method: "saveModel", dir });
  }

  async saveTrainerState(dir: string): Promise<void> {
    await this.call({ method: "saveTrainerState", dir });
  }

  async loadTrainerState(dir: string): Promise<void> {
    await this.call({ method: "loadTrainerState", dir });
  }

  /** Ends after the step under way; what is pending is rejected. */
  async close(): Promise<void> {
    if (this.#dead === undefined) {
      const id = this.#nextId;
      const ended = this.call({ method: "close" }).catch(() => undefined);
      this.#fail(new SpotterError("engine_failed", "The engine was closed."), id);
      await ended;
    }
    await this.#exited;
  }

  call(call: Call, { onTokens, signal }: GenerateOptions = {}): Promise<Result> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    if (signal?.aborted === true) return Promise.reject(aborted(signal));
    const id = this.#nextId++;
    return new Promise<Result>((resolve, reject) => {
      const onAbort = (): void => {
        this.#pending.delete(id);
        this.#send({ id, abort: true });
        reject(aborted(signal));
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const settled = (): void => signal?.removeEventListener("abort", onAbort);
      this.#pending.set(id, {
        onTokens,
        resolve(result) {
          settled();
          resolve(result);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      this.#send({ id, call });
    });
  }

  /** Everything sent in one turn of the event loop leaves in one message, in order. */
  #send(message: ToWorker): void {
    if (this.#outbox.length === 0) setImmediate(() => this.#worker.postMessage(this.#outbox.splice(0)));
    this.#outbox.push(message);
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if ("chunk" in message) {
      pending.onTokens?.(message.chunk);
      return;
    }
    this.#pending.delete(message.id);
    if ("error" in message) pending.reject(fromWire(message.error));
    else pending.resolve(message.result);
  }

  /** Rejects all that is pending, and all that comes. */
  #fail(error: SpotterError, exceptId?: number): void {
    this.#dead ??= error;
    for (const [id, pending] of [...this.#pending]) {
      if (id === exceptId) continue;
      this.#pending.delete(id);
      pending.reject(error);
    }
  }
}

function aborted(signal: AbortSignal | undefined): SpotterError {
  return new SpotterError("user_cancelled", "The request was aborted.", { cause: signal?.reason });
}

function crashed(why: string, cause?: unknown): SpotterError {
  return new SpotterError("engine_failed", `The engine's worker ended: ${why}.`, {
    hint: "Look at the container's log; a model too big for the machine's memory is the usual reason.",
    cause,
  });
}
