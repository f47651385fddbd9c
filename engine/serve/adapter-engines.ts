import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EngineApi } from "../onnx/engine-api.ts";

/** What answers need of an engine. */
export type Generator = Pick<EngineApi, "generate">;

export interface AdapterEnginesParams {
  /** Brings the files of an adapter here and says in which folder; rejects for what is no adapter of this model. */
  fetch: (id: string) => Promise<string>;
  /** Loads what was fetched. */
  start: (folder: string) => Promise<Pick<EngineApi, "generate" | "close">>;
  /** Most adapters that are loaded at a time. */
  most: number;
  /** Whether there is memory for one more. */
  hasMemory: () => boolean;
}

type Started = Awaited<ReturnType<AdapterEnginesParams["start"]>>;

interface Entry {
  id: string;
  engine: Promise<Started>;
  isLoaded: boolean;
  /** Requests that it answers, or that wait for it. */
  users: number;
  onIdle: () => void;
  /** Under way once it is no longer wanted. */
  end?: Promise<void>;
}

/**
 * Engines for adapters of the model that a replica serves, loaded when they are first asked for. Each has its own
 * worker, so that none can disturb the base or another one. Where there are too many, or too little memory, the
 * one that was asked for longest ago makes room, when its answers have ended.
 */
export class AdapterEngines {
  readonly #params: AdapterEnginesParams;
  /** From the one that was asked for longest ago on. */
  readonly #entries = new Map<string, Entry>();
  /** Loads and unloads, one after the other: what is free is known to the one whose turn it is. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #live = new Set<Started>();
  #isClosed = false;

  constructor(params: AdapterEnginesParams) {
    this.#params = params;
  }

  /**
   * Resolves when the adapter can answer. Should it have to make room before it is asked, it is loaded again.
   *
   * @throws SpotterError with what is wrong with the adapter, `memory_exceeded`, or `user_cancelled`.
   */
  async open(id: string, signal: AbortSignal): Promise<Generator> {
    await this.#use(id, signal, () => Promise.resolve());
    return {
      generate: (request, options = {}) =>
        this.#use(id, options.signal, (engine) => engine.generate(request, options)),
    };
  }

  /** Ends all of them, and what they answer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#closeLive();
    // One may have been on its way.
    await this.#turn;
    await this.#closeLive();
  }

  async #closeLive(): Promise<void> {
    await Promise.all([...this.#live].map((engine) => this.#closeOne(engine)));
  }

  async #closeOne(engine: Started): Promise<void> {
    await engine.close();
    this.#live.delete(engine);
  }

  async #use<T>(
    id: string,
    signal: AbortSignal | undefined,
    work: (engine: Started) => Promise<T>,
  ): Promise<T> {
    const entry = this.#asked(id);
    entry.users++;
    try {
      return await work(await orAborted(entry.engine, signal));
    } catch (error) {
      if (SpotterError.is(error) && error.code === "engine_failed") void this.#retire(entry);
      throw error;
    } finally {
      entry.users--;
      if (entry.users === 0) entry.onIdle();
    }
  }

  #asked(id: string): Entry {
    const known = this.#entries.get(id);
    this.#entries.delete(id);
    const entry = known ?? this.#begun(id);
    this.#entries.set(id, entry);
    return entry;
  }

  #begun(id: string): Entry {
    const engine = this.#load(id);
    const entry: Entry = { id, engine, isLoaded: false, users: 0, onIdle: () => undefined };
    engine.then(
      () => (entry.isLoaded = true),
      // Whoever asks next tries again.
      () => this.#forget(entry),
    );
    return entry;
  }

  async #load(id: string): Promise<Started> {
    const folder = await this.#params.fetch(id);
    const loaded = this.#turn.then(async () => {
      await this.#makeRoom(id);
      if (this.#isClosed) throw new SpotterError("engine_failed", "The replica ends.");
      const engine = await this.#params.start(folder);
      this.#live.add(engine);
      return engine;
    });
    this.#turn = loaded.catch(() => undefined);
    return loaded;
  }

  async #makeRoom(id: string): Promise<void> {
    const { most, hasMemory } = this.#params;
    for (;;) {
      const loaded = [...this.#entries.values()].filter(({ isLoaded }) => isLoaded);
      if (this.#isClosed || (loaded.length < most && hasMemory())) return;
      const leaving = loaded.find(({ users }) => users === 0) ?? loaded[0];
      if (leaving === undefined) throw noMemory(id);
      await this.#retire(leaving);
    }
  }

  /** New requests for it load it anew; those it has are answered first. */
  #retire(entry: Entry): Promise<void> {
    this.#forget(entry);
    entry.end ??= this.#end(entry).catch(() => undefined);
    return entry.end;
  }

  async #end(entry: Entry): Promise<void> {
    if (entry.users > 0) await new Promise<void>((resolve) => (entry.onIdle = resolve));
    await this.#closeOne(await entry.engine);
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }
}

function noMemory(id: string): SpotterError {
  return new SpotterError("memory_exceeded", `There is no memory for the adapter ${id} beside its base.`, {
    where: "model",
    hint: `Launch an endpoint of its own with Endpoint.launch(model, { checkpoint: "${id}" }).`,
  });
}

/** What is shared goes on when one of those who wait for it goes away. */
function orAborted<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const leave = (): void =>
      reject(new SpotterError("user_cancelled", "The request was aborted.", { cause: signal.reason }));
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
