import * as z from "zod/mini";
import { checkpoint as checkpointSchema } from "./schema/checkpoint.ts";
import { pageOf } from "./schema/common.ts";
import { SpotterError } from "./schema/errors.ts";
import type { RunEvent } from "./schema/event.ts";
import { rollout as rolloutSchema, type Rollout } from "./schema/rollout.ts";
import type { Estimate } from "./schema/cost.ts";
import type { RunSpec } from "./schema/run-spec.ts";
import {
  run as runSchema,
  runDetailOf,
  TERMINAL_RUN_STATES,
  type Run as RunRecord,
  type RunDetail,
  type RunPhase,
  type RunState,
} from "./schema/run.ts";
import { Checkpoint } from "./checkpoint.ts";
import { type CallOptions, type Client, clientOf, type RequestOptions } from "./client.ts";
import { failureText } from "./failure-text.ts";
import { followRun } from "./run-events.ts";

/** The control plane has checked its specs. */
export const runDetail = runDetailOf(z.custom<RunSpec>());

export interface ListRunsParams extends CallOptions {
  /** Default 100. */
  limit?: number;
  /** Only runs in this state. */
  state?: RunState;
  /** Only runs with this tag. */
  tag?: string;
  /** Archived runs, and only those. Default false: they are left out. */
  archived?: boolean;
}

export interface RunEventsParams {
  /** Start behind this sequence number. Default 0: from the beginning. */
  after?: number;
  signal?: AbortSignal | undefined;
}

/** What people say about a run. */
export interface UpdateRunParams {
  name?: string;
  /** Replace the ones it has. */
  tags?: string[];
  notes?: string;
  signal?: AbortSignal | undefined;
}

/** What a run that succeeded has left. */
export interface RunResult {
  readonly run: RunRecord;
  /** Last value of each metric. */
  readonly metrics: Record<string, number>;
  /** By step; the last one is what came out. */
  checkpoints(): Checkpoint[];
}

/**
 * A training that was launched. It belongs to the control plane: this object only looks at it, and any
 * process may look at it again with {@link Run.get}.
 */
export class Run {
  readonly #client: Client;
  #detail: RunDetail;

  /** @internal Use `new TrainConfig(...).launch()`, {@link Run.get} or {@link Run.list}. */
  constructor(client: Client, detail: RunDetail) {
    this.#client = client;
    this.#detail = detail;
  }

  /** @throws SpotterError `not_found` */
  static async get(id: string, options: CallOptions = {}): Promise<Run> {
    const client = clientOf(options);
    return new Run(client, await read(client, id, options.signal));
  }

  /** Newest first, as summaries. */
  static async list(params: ListRunsParams = {}): Promise<RunRecord[]> {
    const client = clientOf(params);
    const { limit = 100, state, tag, signal } = params;
    const archived = params.archived ? "true" : undefined;
    const runs: RunRecord[] = [];
    let after: string | undefined;
    do {
      const query = { after, state, tag, archived, limit: Math.min(limit - runs.length, 1_000) };
      const page = await client.request(pageOf(runSchema), "GET", "/runs", { query, signal });
      runs.push(...page.items);
      after = page.next;
    } while (after !== undefined && runs.length < limit);
    return runs;
  }

  /** Final from the launch on. */
  get id(): string {
    return this.#detail.run.id;
  }

  /** A page for people. */
  get url(): string {
    return this.#detail.url;
  }

  get name(): string | undefined {
    return this.#detail.run.name;
  }

  /** As of the last call that asked the server, like everything below. */
  get state(): RunState {
    return this.#detail.run.state;
  }

  get phase(): RunPhase | undefined {
    return this.#detail.run.phase;
  }

  /** Steps finished. */
  get step(): number {
    return this.#detail.run.step;
  }

  get steps(): number {
    return this.#detail.run.steps;
  }

  /** Latest value of each metric. */
  get metrics(): Record<string, number> {
    return this.#detail.run.metrics;
  }

  get record(): RunRecord {
    return this.#detail.run;
  }

  /** What was thought of its time, cost and memory when it was launched; undefined for runs of older versions. */
  get estimate(): Estimate | undefined {
    return this.#detail.estimate;
  }

  get spec(): RunSpec {
    return this.#detail.spec;
  }

  async refresh(options: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    this.#detail = await read(this.#client, this.id, options.signal);
    return this;
  }

  /**
   * Everything that happens, in order, from the beginning or behind `after`, until the run has ended. Nothing
   * is lost when the connection breaks or the daemon restarts.
   *
   * @example
   * for await (const event of run.events()) {
   *   if (event.body.type === "metrics") console.log(event.body.step, event.body.metrics);
   * }
   */
  events(params: RunEventsParams = {}): AsyncGenerator<RunEvent, void, undefined> {
    return followRun(this.#client, this.id, params);
  }

  /**
   * Waits for the end.
   *
   * @throws SpotterError `run_failed` with the cause and the last lines of the log, `user_cancelled`.
   * @example
   * const result = await run.result();
   * const checkpoint = result.checkpoints().at(-1);
   */
  async result(options: { signal?: AbortSignal } = {}): Promise<RunResult> {
    await this.refresh(options);
    if (!this.#hasEnded()) {
      for await (const event of this.events(options)) {
        if (event.body.type === "state" && isTerminal(event.body.state)) break;
      }
      await this.refresh(options);
    }
    const { run } = this.#detail;
    if (run.state === "cancelled") {
      throw new SpotterError("user_cancelled", `The run ${run.id} was cancelled after ${run.step} steps.`, {
        where: run.id,
        hint: "Its checkpoints are kept: see run.checkpoints().",
      });
    }
    if (run.state !== "succeeded") throw failed(run);
    const checkpoints = await this.checkpoints(options);
    return { run, metrics: run.metrics, checkpoints: () => [...checkpoints] };
  }

  /** Those that are complete, by step. Grows while the run trains. */
  async checkpoints(options: { signal?: AbortSignal } = {}): Promise<Checkpoint[]> {
    const page = pageOf(checkpointSchema);
    const { items } = await this.#client.request(page, "GET", `${pathOf(this.id)}/checkpoints`, options);
    return items.sort((a, b) => a.step - b.step).map((record) => new Checkpoint(this.#client, record));
  }

  /** The trajectories of one step, exactly as sampled and judged. */
  async rollouts(step: number, options: { signal?: AbortSignal } = {}): Promise<Rollout[]> {
    const schema = z.object({ rollouts: z.array(rolloutSchema) });
    const request = { query: { step }, ...options };
    return (await this.#client.request(schema, "GET", `${pathOf(this.id)}/rollouts`, request)).rollouts;
  }

  /** The last lines the container wrote, oldest first. */
  async logs(options: { signal?: AbortSignal } = {}): Promise<string[]> {
    const schema = z.object({ lines: z.array(z.string()) });
    return (await this.#client.request(schema, "GET", `${pathOf(this.id)}/logs`, options)).lines;
  }

  /** Asks it to stop. It saves a checkpoint first, so wait for {@link result} if you want that one. */
  cancel(options: { signal?: AbortSignal } = {}): Promise<this> {
    return this.#change("POST", "/cancel", options);
  }

  /**
   * Asks it to save a checkpoint and let go of its container. It is `paused` once it has; {@link resume} lets it
   * go on from there, to the very weights that it would have had.
   *
   * @throws SpotterError `conflict` when it has ended.
   * @example
   * await run.pause();
   * await run.resume();
   */
  pause(options: { signal?: AbortSignal } = {}): Promise<this> {
    return this.#change("POST", "/pause", options);
  }

  /** @throws SpotterError `conflict` when it has ended, or has not paused yet. */
  resume(options: { signal?: AbortSignal } = {}): Promise<this> {
    return this.#change("POST", "/resume", options);
  }

  /**
   * Changes what people say about it. What is left out stays as it is; an empty text removes.
   *
   * @example
   * await run.update({ tags: ["best"], notes: "Twice the learning rate." });
   */
  update(params: UpdateRunParams): Promise<this> {
    const { signal, ...json } = params;
    return this.#change("PATCH", "", { json, signal });
  }

  /** Takes it out of lists, where it is found only when asked for; `archive(false)` brings it back. */
  archive(archived = true, options: { signal?: AbortSignal } = {}): Promise<this> {
    return this.#change("PATCH", "", { json: { archived }, ...options });
  }

  /**
   * Removes it with its checkpoints, rollouts, events and logs. Resolves when all of that is gone.
   *
   * @throws SpotterError `conflict` while it goes on, or while something uses one of its checkpoints.
   */
  delete(options: { signal?: AbortSignal } = {}): Promise<void> {
    // Repeated, it would say that there is no such run.
    return this.#client.command("DELETE", pathOf(this.id), {
      ...options,
      retry: "unsent",
      timeoutMs: 600_000,
    });
  }

  async #change(method: "POST" | "PATCH", path: string, options: RequestOptions): Promise<this> {
    await this.#client.command(method, pathOf(this.id) + path, options);
    return this.refresh({ signal: options.signal });
  }

  #hasEnded(): boolean {
    return isTerminal(this.#detail.run.state);
  }
}

function isTerminal(state: RunState): boolean {
  return TERMINAL_RUN_STATES.includes(state);
}

function read(client: Client, id: string, signal: AbortSignal | undefined): Promise<RunDetail> {
  return client.request(runDetail, "GET", pathOf(id), { signal });
}

function pathOf(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

function failed(run: RunRecord): SpotterError {
  return new SpotterError("run_failed", `The run ${run.id} failed: ${failureText(run.failure)}`, {
    where: run.id,
    hint: run.failure?.hint ?? `See the whole log with \`spotter run logs ${run.id}\`.`,
  });
}
