import { pageOf } from "./schema/common.ts";
import { SpotterError } from "./schema/errors.ts";
import { evalRecord, type EvalRecord, type EvalState, type Interval } from "./schema/eval.ts";
import type { EvalRow } from "./schema/eval-row.ts";
import type { EvalComparison } from "./schema/eval-comparison.ts";
import { type CallOptions, type Client, clientOf } from "./client.ts";
import { failureText } from "./failure-text.ts";
import { sleep } from "./retry.ts";

export interface EvalResult extends Interval {
  readonly id: string;
  /** Mean and 95 % interval of each reward; the result's own are those of the total. */
  readonly scores: Record<string, Interval>;
  /** pass@k by k, with its interval over rows. */
  readonly passes: Record<string, Interval>;
  /** Answers without a verdict; they count in no mean. */
  readonly missing: number;
  /** Of these, rows that could not be played at all. */
  readonly failed: number;
}

/** An evaluation that was launched. Any process may look at it again with `Eval.get(id)`. */
export class EvalRun {
  readonly #client: Client;
  #record: EvalRecord;

  /** @internal Use `new Eval(...).launch()`, `Eval.get` or `Eval.list`. */
  constructor(client: Client, record: EvalRecord) {
    this.#client = client;
    this.#record = record;
  }

  /** @internal */
  static async get(id: string, options: CallOptions): Promise<EvalRun> {
    const client = clientOf(options);
    return new EvalRun(client, await read(client, id, options.signal));
  }

  /** @internal */
  static async list(options: CallOptions & { limit?: number }): Promise<EvalRun[]> {
    const client = clientOf(options);
    const { limit = 100, signal } = options;
    const records: EvalRecord[] = [];
    let after: string | undefined;
    do {
      const query = { after, limit: Math.min(limit - records.length, 1_000) };
      const page = await client.request(pageOf(evalRecord), "GET", "/evals", { query, signal });
      records.push(...page.items);
      after = page.next;
    } while (after !== undefined && records.length < limit);
    return records.map((record) => new EvalRun(client, record));
  }

  get id(): string {
    return this.#record.id;
  }

  /** As of the last call that asked the server. */
  get state(): EvalState {
    return this.#record.state;
  }

  get record(): EvalRecord {
    return this.#record;
  }

  async refresh(options: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    this.#record = await read(this.#client, this.id, options.signal);
    return this;
  }

  /**
   * Waits for the end.
   *
   * @param options `onProgress` is called with answers judged and answers in all, whenever there is news.
   * @throws SpotterError `eval_failed` with the cause and the last lines of the log, `user_cancelled`.
   */
  async result(
    options: { signal?: AbortSignal; onProgress?: (done: number, total: number) => void } = {},
  ): Promise<EvalResult> {
    let seen = -1;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.3, 500)) {
      await this.refresh(options);
      const { done, total } = this.#record;
      if (done !== seen) options.onProgress?.(done, total);
      seen = done;
      if (["succeeded", "failed", "cancelled"].includes(this.state)) return resultOf(this.#record);
      await sleep(waitMs, options.signal);
    }
  }

  /** Asks it to end; what was judged so far is kept. */
  async cancel(options: { signal?: AbortSignal } = {}): Promise<this> {
    this.#record = await this.#client.request(evalRecord, "POST", `${pathOf(this.id)}/cancel`, options);
    return this;
  }

  /**
   * How much better another eval is on the rows that both judged: differences row by row, with paired intervals.
   *
   * @throws SpotterError `invalid_input` for evals of other rows.
   * @example
   * const before = await Eval.get("eval-EXAMPLE");
   * const { score } = await before.compare("eval-OTHER");
   * console.log(score.difference.mean, score.difference.low, score.difference.high);
   */
  async compare(other: EvalRun | string, options: { signal?: AbortSignal } = {}): Promise<EvalComparison> {
    const id = typeof other === "string" ? other : other.id;
    const path = `${pathOf(this.id)}/compare/${encodeURIComponent(id)}`;
    const { readComparison } = await import("./eval-rows.ts");
    return readComparison(this.#client, path, options.signal);
  }

  /** Every conversation with its verdict, by row and sample. */
  async rows(options: { signal?: AbortSignal } = {}): Promise<EvalRow[]> {
    const { readRows } = await import("./eval-rows.ts");
    return readRows(this.#client, `${pathOf(this.id)}/rows`, options.signal);
  }
}

function resultOf(record: EvalRecord): EvalResult {
  const { id, score, scores, passes, missing, failed } = record;
  if (record.state === "cancelled") {
    throw new SpotterError("user_cancelled", `The evaluation ${id} was cancelled.`, { where: id });
  }
  if (record.state === "failed" || !score) {
    throw new SpotterError("eval_failed", `The evaluation ${id} failed: ${failureText(record.failure)}`, {
      where: id,
      hint: record.failure?.hint,
    });
  }
  return { id, ...score, scores, passes, missing, failed };
}

function read(client: Client, id: string, signal: AbortSignal | undefined): Promise<EvalRecord> {
  return client.request(evalRecord, "GET", pathOf(id), { signal });
}

function pathOf(id: string): string {
  return `/evals/${encodeURIComponent(id)}`;
}
