import type { ContainerSpec, ContainerState } from "../../ports/containers.ts";
import type { View } from "./sightings.ts";

/** What came of one try to start something. */
export type Started<V> =
  | { view: V }
  /** There is no room for it now, or an earlier launch started it and it is not told of yet. */
  | { waits: string };

/** ECS or Batch, as the flows in platform-containers.ts need it. */
export interface Platform<V extends View> {
  /**
   * One try of a launch that began at `nowMs`. Throws a SpotterError where it cannot be had at all, anything else
   * where nobody knows what came of it.
   */
  start(spec: ContainerSpec, nowMs: number): Promise<Started<V>>;
  /**
   * Asked anew: everything that lives under the name of this job. With `spec`, only where that would have been
   * started.
   */
  findByName(jobId: string, spec?: ContainerSpec): Promise<V[]>;
  /** Whether `findByName` finds what has ended, too. */
  readonly findsEndedByName: boolean;
  /** Everything of this stack that lives, and what ended of late; what `isKnown` to be over may be left out. */
  listAll(isKnown: (id: string) => boolean): Promise<V[]>;
  /** These, as far as they still exist. */
  look(ids: string[]): Promise<V[]>;
  /** Asks it to end; fine if it has. */
  end(id: string, words: string): Promise<void>;
  logStream(view: V): string | undefined;
  newer(known: V | undefined, seen: V): V;
  isOver(view: V): boolean;
  state(view: V, logTail: string[]): Promise<ContainerState>;
}

/** The one of several doubles that counts: one that runs before others, then the oldest; the last one that ended. */
export function chosen<V extends View>(views: readonly V[], isOver: (view: V) => boolean): V | undefined {
  const byAge = views.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  const living = byAge.filter((view) => !isOver(view));
  return living.find(({ startedAtMs }) => startedAtMs !== undefined) ?? living[0] ?? byAge.at(-1);
}
