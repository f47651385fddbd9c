import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { GenerateRequest } from "../engine-api.ts";
import type { InferFeeds, InferOutputs } from "../models/infer-session.ts";
import type { LlamaConfig } from "../models/llama-config.ts";
import { checkRequest } from "./check-request.ts";
import type { TokenMask } from "./constraint/token-mask.ts";
import { KvPool } from "./kv-pool.ts";
import { PrefixStore } from "./prefix-store.ts";
import { Sequence, type SequenceListener } from "./sequence.ts";

/** Runs the inference graph; see `models/infer-graph.ts` for what goes in and out. */
export interface InferRunner {
  readonly maxPositions: number;
  run(feeds: InferFeeds): Promise<Pick<InferOutputs, "probs">>;
  /** As `run`; asked for only where a sequence needs them, for every output costs a copy. */
  runWithLogits(feeds: InferFeeds): Promise<InferOutputs>;
}

export interface SchedulerParams {
  /** Most sequences decoded together. */
  slots: number;
  /** Prompt tokens read ahead of decoding in one step, over all sequences. Default: 128. */
  prefillTokens?: number;
  /**
   * Memory for what ended sequences began with, in bytes. Only for weights that do not change. Default: 0.
   */
  keepBytes?: number;
}

/** Bounds what the scores of a prompt need at once, in numbers. */
const MAX_LOGITS = 2 ** 23;
/** A shorter rest of a prompt is read token by token beside the others: a run of its own costs more. */
const SHORTEST_PREFILL = 6;

/**
 * Continuous batching. Each step reads some prompt tokens, one sequence at a time, and then decodes one token
 * of every live sequence in one run; sequences come and go between steps. What a step does follows from the
 * order of requests alone, never from time.
 *
 * Live sequences fill the slots 0 to n - 1 of the cache: when one leaves, the last one takes its slot.
 * Prompts that begin as a live sequence does (all samples of a group), or as one that ended, copy its cache.
 */
export class Scheduler {
  readonly #runner: InferRunner;
  readonly #config: LlamaConfig;
  readonly #pool: KvPool;
  readonly #kept: PrefixStore | undefined;
  readonly #prefillTokens: number;
  readonly #waiting: Sequence[] = [];
  readonly #live: Sequence[] = [];
  readonly #aborted = new Set<Sequence>();
  #stepping = false;

  constructor(runner: InferRunner, config: LlamaConfig, params: SchedulerParams) {
    this.#runner = runner;
    this.#config = config;
    this.#pool = new KvPool(config, params.slots, runner.maxPositions);
    if (params.keepBytes) this.#kept = new PrefixStore(config, params.keepBytes);
    this.#prefillTokens = params.prefillTokens ?? 128;
  }

  /** Whether there is anything to do. */
  get busy(): boolean {
    return this.#live.length + this.#waiting.length > 0;
  }

  /** Sequences that hold a slot. */
  get live(): number {
    return this.#live.length;
  }

  /**
   * Queues a request. `mask` keeps it to its grammar.
   *
   * @returns the way to abort it, which frees its slot before the next step; the listener hears no more.
   * @throws SpotterError `context_length_exceeded` or `invalid_input`.
   */
  add(request: GenerateRequest, listener: SequenceListener, mask?: TokenMask): () => void {
    checkRequest(request, this.#config.vocabularySize, this.#runner.maxPositions);
    if (request.maxNewTokens === 0 && request.promptLogprobs === undefined) {
      // Not before the caller holds the way to abort it.
      queueMicrotask(() => listener.onEnd("length"));
      return () => {};
    }
    const sequence = new Sequence(request, listener, this.#runner.maxPositions, mask);
    this.#waiting.push(sequence);
    return () => this.#abort(sequence);
  }

  /** Decodes one token of every live sequence. Steps must not overlap. */
  async step(): Promise<void> {
    this.#stepping = true;
    try {
      await this.#prefill();
      this.#dropAborted();
      await this.#decode();
    } catch (error) {
      for (const sequence of this.#live.splice(0)) sequence.listener.onError(SpotterError.from(error));
    }
    this.#stepping = false;
    this.#dropAborted();
    if (this.#live.length === 0) this.#pool.shrink();
  }

  /** A run in progress holds on to the slots it was given, so they change hands only between runs. */
  #abort(sequence: Sequence): void {
    this.#aborted.add(sequence);
    if (!this.#stepping) this.#dropAborted();
  }

  #dropAborted(): void {
    for (const sequence of this.#aborted) this.#remove(sequence);
    this.#aborted.clear();
  }

  /** Admits what waits, and reads prompts as far as this step's budget goes. */
  async #prefill(): Promise<void> {
    let budget = this.#prefillTokens;
    for (let slot = 0; budget > 0; slot++) {
      const sequence = this.#live[slot] ?? this.#admit();
      if (sequence === undefined) return;
      if (sequence.unread < SHORTEST_PREFILL) continue;
      const most = sequence.scores ? Math.ceil(MAX_LOGITS / this.#config.vocabularySize) : Infinity;
      const count = Math.min(sequence.unread, budget, most);
      await this.#read(sequence, count);
      budget -= count;
      // It may have ended, and the last one have its slot; or have more to read than its logits had room.
      if (this.#live[slot] !== sequence || sequence.scores) slot--;
    }
  }

  #admit(): Sequence | undefined {
    if (this.#live.length === this.#pool.slots) return undefined;
    const sequence = this.#waiting.shift();
    if (sequence === undefined) return undefined;
    const slot = this.#live.push(sequence) - 1;
    this.#share(sequence, slot);
    sequence.reused = sequence.cached;
    return sequence;
  }

  /** Gives a new sequence the longest beginning that is known, of the live ones or of those that ended. */
  #share(sequence: Sequence, slot: number): void {
    if (!sequence.shares) return;
    let donor = -1;
    for (let other = 0; other < slot; other++) {
      const shared = sequence.sharedWith(this.#live[other] as Sequence);
      if (shared <= sequence.cached) continue;
      sequence.cached = shared;
      donor = other;
    }
    const ended = this.#kept?.find(sequence.ids);
    if (ended !== undefined && ended.shared > sequence.cached) {
      // Its slot holds nothing yet.
      sequence.cached = 0;
      this.#reserve(ended.shared);
      this.#kept?.restore(ended.known, ended.shared, this.#pool.window(slot, 1));
      sequence.cached = ended.shared;
    } else if (donor >= 0) this.#pool.copySlot(donor, slot, sequence.cached);
  }

  async #read(sequence: Sequence, count: number): Promise<void> {
    const end = sequence.cached + count;
    const rows = sequence.scores ? count : 1;
    this.#reserve(end);
    const { probs } = await this.#runner.run({
      ids: BigInt64Array.from(sequence.ids.slice(sequence.cached, end), BigInt),
      seqlensK: Int32Array.of(end - 1),
      total: end,
      last: BigInt64Array.from({ length: rows }, (_, row) => BigInt(count - rows + row)),
      invTemperature: new Float32Array(rows).fill(sequence.inverseTemperature),
      cache: this.#pool.window(this.#live.indexOf(sequence), 1),
    });
    sequence.cached = end;
    if (!sequence.scores || this.#aborted.has(sequence)) return;
    const size = this.#config.vocabularySize;
    this.#settle(sequence, () => {
      let reason: "length" | undefined;
      for (let row = 0; row < rows; row++) {
        const probabilities = probs.subarray(row * size, (row + 1) * size);
        checkNumbers(probabilities);
        reason = sequence.score(probabilities);
      }
      return reason;
    });
  }

  async #decode(): Promise<void> {
    const batch = [...this.#live];
    if (batch.length === 0) return;
    const total = Math.max(...batch.map((sequence) => sequence.cached)) + 1;
    this.#reserve(total);
    const outputs = await this.#run(batch, {
      ids: BigInt64Array.from(batch, (sequence) => BigInt(sequence.next)),
      seqlensK: Int32Array.from(batch, (sequence) => sequence.cached),
      total,
      last: new BigInt64Array(batch.length),
      invTemperature: Float32Array.from(batch, (sequence) => sequence.inverseTemperature),
      cache: this.#pool.window(0, batch.length),
    });
    for (const sequence of batch) sequence.cached++;
    const size = this.#config.vocabularySize;
    const rowOf = (data: Float32Array, row: number): Float32Array =>
      data.subarray(row * size, (row + 1) * size);
    for (const [row, sequence] of batch.entries()) {
      if (this.#aborted.has(sequence)) continue;
      const logits = sequence.needsLogits && outputs.logits ? rowOf(outputs.logits, row) : undefined;
      this.#take(sequence, rowOf(outputs.probs, row), logits);
    }
  }

  #run(
    batch: readonly Sequence[],
    feeds: InferFeeds,
  ): Promise<Partial<InferOutputs> & { probs: Float32Array }> {
    const needsLogits = batch.some((sequence) => sequence.needsLogits);
    return needsLogits ? this.#runner.runWithLogits(feeds) : this.#runner.run(feeds);
  }

  #take(sequence: Sequence, row: Float32Array, logits: Float32Array | undefined): void {
    this.#settle(sequence, () => {
      checkNumbers(row);
      return sequence.take(row, logits);
    });
  }

  /** Ends a sequence where `work` says why, or throws: what goes wrong with one is its own affair. */
  #settle(sequence: Sequence, work: () => "stop" | "length" | undefined): void {
    try {
      const reason = work();
      if (reason === undefined) return;
      this.#remove(sequence);
      sequence.listener.onEnd(reason);
    } catch (error) {
      this.#remove(sequence, { keep: false });
      sequence.listener.onError(SpotterError.from(error));
    }
  }

  #reserve(positions: number): void {
    this.#pool.reserve(
      positions,
      this.#live.map((sequence) => sequence.cached),
    );
  }

  #remove(sequence: Sequence, { keep } = { keep: true }): void {
    const waiting = this.#waiting.indexOf(sequence);
    if (waiting >= 0) this.#waiting.splice(waiting, 1);
    const slot = this.#live.indexOf(sequence);
    if (slot < 0) return;
    if (keep && sequence.cached > 0)
      this.#kept?.keep(sequence.ids.slice(0, sequence.cached), this.#pool.window(slot, 1));
    const last = this.#live.pop();
    if (last === undefined || last === sequence) return;
    this.#live[slot] = last;
    this.#pool.copySlot(this.#live.length, slot, last.cached);
  }
}

function checkNumbers(row: Float32Array): void {
  if (!Number.isNaN(row[0])) return;
  throw new SpotterError("numeric_failure", "The model's probabilities are not numbers.", {
    hint: "The weights have diverged: lower the learning rate, or go back to an earlier checkpoint.",
  });
}
