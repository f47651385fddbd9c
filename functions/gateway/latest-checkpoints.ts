import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import type { Store } from "../ports/store.ts";
import type { Sharing } from "../records/follow.ts";

/** The latest checkpoint with weights of each run that was asked for. */
export interface LatestCheckpoints {
  get(runId: string): Promise<string | undefined>;
  set(runId: string, id: string): void;
  /** It may be gone: the next look asks again. */
  forget(runId: string): void;
  /** Reads again what was asked for since the last call. */
  refresh(): Promise<void>;
}

/** Checkpoints whose weights may still be on their way. */
const MOST_WITHOUT = 5;

interface Entry {
  id: string;
  readAtMs: number;
  isUsed: boolean;
}

export function createLatestCheckpoints(store: Store, sharing?: Sharing): LatestCheckpoints {
  const entries = new Map<string, Entry>();
  const nowMs = () => sharing?.clock.now() ?? 0;

  function isCurrent({ readAtMs }: Entry): boolean {
    if (sharing === undefined) return true;
    const { shared } = sharing;
    return shared.readsAtUse !== true && nowMs() - readAtMs <= shared.maxAgeMs;
  }

  async function read(runId: string): Promise<void> {
    const before = entries.get(runId);
    const page = await store.query<Checkpoint>(`checkpoints/${runId}`, {
      reverse: true,
      limit: MOST_WITHOUT,
    });
    const newest = page.items.map(({ value }) => value);
    const id = (newest.find(hasWeights) ?? newest[0])?.id;
    // What was written here meanwhile is newer.
    if (entries.get(runId) !== before) return;
    if (id === undefined) entries.delete(runId);
    else entries.set(runId, { id, readAtMs: nowMs(), isUsed: false });
  }

  return {
    async get(runId) {
      const before = entries.get(runId);
      if (before === undefined) await read(runId);
      // A Store that is away leaves what was known.
      else if (!isCurrent(before)) await read(runId).catch(() => undefined);
      const entry = entries.get(runId);
      if (entry !== undefined) entry.isUsed = true;
      return entry?.id;
    },
    set: (runId, id) => void entries.set(runId, { id, readAtMs: nowMs(), isUsed: false }),
    forget: (runId) => void entries.delete(runId),
    async refresh() {
      const used = [...entries].filter(([, entry]) => entry.isUsed);
      for (const [, entry] of used) entry.isUsed = false;
      await Promise.all(used.map(([runId]) => read(runId)));
    },
  };
}
