import { isRecent } from "../recent.ts";
import type { StartedFor } from "./names.ts";

/** What both services have in common about something that was started. */
export interface View extends StartedFor {
  /** ARN of a task, id of a job of Batch. */
  id: string;
  createdAtMs: number;
  startedAtMs?: number;
  /** The container instance it runs on, where there is one. */
  instanceArn?: string;
}

interface Seen<V> {
  view: V;
  atMs: number;
}

/** Ended ones that are remembered. The services forget theirs within an hour or a day. */
const MAX_KEPT = 2_000;

/** The newest that was seen of each task or job, by answers and by events, in whatever order they came. */
export class Sightings<V extends View> {
  readonly #seen = new Map<string, Seen<V>>();
  readonly #ofJob = new Map<string, Set<string>>();
  readonly #newer: (known: V | undefined, seen: V) => V;
  readonly #isOver: (view: V) => boolean;

  constructor(newer: (known: V | undefined, seen: V) => V, isOver: (view: V) => boolean) {
    this.#newer = newer;
    this.#isOver = isOver;
  }

  /** Whether it was news. */
  note(view: V, nowMs: number): boolean {
    const known = this.#seen.get(view.id);
    const newest = this.#newer(known?.view, view);
    this.#seen.delete(view.id);
    this.#seen.set(view.id, { view: newest, atMs: nowMs });
    const ids = this.#ofJob.get(view.jobId) ?? new Set<string>();
    this.#ofJob.set(view.jobId, ids.add(view.id));
    if (this.#seen.size > MAX_KEPT) this.#forgetOldestEnded();
    return newest !== known?.view;
  }

  get(id: string): V | undefined {
    return this.#seen.get(id)?.view;
  }

  ofJob(jobId: string): V[] {
    return [...(this.#ofJob.get(jobId) ?? [])].flatMap((id) => this.get(id) ?? []);
  }

  living(): V[] {
    return [...this.#seen.values()].map(({ view }) => view).filter((view) => !this.#isOver(view));
  }

  isOver(id: string): boolean {
    const view = this.get(id);
    return view !== undefined && this.#isOver(view);
  }

  /** Seen within the last `ms`, or over for good. */
  isFresh(id: string, nowMs: number, ms: number): boolean {
    return this.isOver(id) || isRecent(this.#seen.get(id)?.atMs ?? -Infinity, nowMs, ms);
  }

  forget(id: string): void {
    const view = this.get(id);
    this.#seen.delete(id);
    if (view === undefined) return;
    const ids = this.#ofJob.get(view.jobId);
    ids?.delete(id);
    if (ids?.size === 0) this.#ofJob.delete(view.jobId);
  }

  #forgetOldestEnded(): void {
    for (const id of this.#seen.keys()) if (this.isOver(id)) return this.forget(id);
  }
}
