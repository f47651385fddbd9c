import type { Clock, Ids } from "../ports/clock.ts";
import type { Document, DocumentKey, Store } from "../ports/store.ts";
import { isConflict } from "./conflict.ts";
import type { Gate } from "./gate.ts";

/** Somebody begins or removes at this moment. Renewed while they do. */
interface MarkDocument {
  v: 1;
  /** The process. {@link NOBODY}: the mark of removals stays, so that its versions never come again. */
  by: string;
}

const NOBODY = "";

/** A mark that nobody has renewed for so long, while somebody watched, is of a process that is no more. */
export const MARK_LIVES_MS = 20_000;
/** An index of the Store may tell of a document so long after it was written: what began just now is in it then. */
export const INDEX_LAG_MS = 2_000;
const RENEW_EVERY_MS = 5_000;
/** Who waits looks after this time, and more seldom then: hundreds may wait for one removal. */
const LOOK_AFTER_MS = 200;
const LOOK_EVERY_MS = 1_000;
const BEGINS = "gate-begins";
const REMOVAL: DocumentKey = { partition: "gate", sort: "removal" };

export interface SharedGateParams {
  store: Store;
  clock: Clock;
  ids: Ids;
}

interface Mark {
  remove(): Promise<void>;
}

/**
 * The gate of several processes. Who begins puts down a mark of its own and then looks whether there is a removal;
 * who removes puts down the one mark of removals and then looks who begins. As reads see every write before them,
 * one of the two sees the other, and nobody writes to what many others write to. A process that dies in between
 * holds the others up for {@link MARK_LIVES_MS}; one that stands still for longer than that loses its turn unseen.
 */
export function createSharedGate({ store, clock, ids }: SharedGateParams): Gate {
  const me = ids.next();
  let begun = 0;
  let mayRemoveAtMs = 0;

  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

  async function tryMark(key: DocumentKey): Promise<Mark | undefined> {
    const value: MarkDocument = { v: 1, by: me };
    // Each begin has a key of its own.
    const current = key === REMOVAL ? await store.get<MarkDocument>(key) : undefined;
    if (current !== undefined && current.value.by !== NOBODY) return undefined;
    let version: number;
    try {
      version = await store.put(key, value, { ifVersion: current?.version ?? 0 });
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
    let isOver = false;
    let renewal = Promise.resolve();
    let cancel = clock.after(RENEW_EVERY_MS, renew);
    function renew(): void {
      renewal = store.put(key, value, { ifVersion: version }).then(
        (next) => void (version = next),
        // Away, or somebody took this process for dead: the next renewal tries again.
        () => undefined,
      );
      if (!isOver) cancel = clock.after(RENEW_EVERY_MS, renew);
    }
    return {
      async remove() {
        isOver = true;
        cancel();
        await renewal;
        await removeMark(store, key, version);
      },
    };
  }

  /** Resolves when none of the marks that a look finds is left, or lives. */
  async function untilGone(look: () => Promise<Document<MarkDocument>[]>): Promise<void> {
    const seen = new Map<string, { version: number; sinceMs: number }>();
    for (let waitMs = LOOK_AFTER_MS; ; waitMs = Math.min(LOOK_EVERY_MS, 1.5 * waitMs)) {
      const marks = await look();
      if (marks.length === 0) return;
      for (const { key, version } of marks) {
        const before = seen.get(key.sort);
        if (before?.version !== version) seen.set(key.sort, { version, sinceMs: clock.now() });
        else if (clock.now() - before.sinceMs > MARK_LIVES_MS) await removeMark(store, key, version);
      }
      await pause(waitMs);
    }
  }

  async function removals(): Promise<Document<MarkDocument>[]> {
    const removal = await store.get<MarkDocument>(REMOVAL);
    return removal === undefined || removal.value.by === NOBODY ? [] : [removal];
  }

  async function enter(): Promise<Mark> {
    for (;;) {
      const mark = await tryMark({ partition: BEGINS, sort: ids.next() });
      if (mark === undefined) continue;
      if ((await removals()).length === 0) return mark;
      // A removal waits for whoever began, so it must not see somebody who waits for it.
      await mark.remove();
      await untilGone(removals);
    }
  }

  async function enterAlone(): Promise<Mark> {
    for (;;) {
      // Those who waited for the last turn get theirs before the next one.
      const waitMs = mayRemoveAtMs - clock.now();
      if (waitMs > 0) await pause(waitMs);
      const mark = await tryMark(REMOVAL);
      if (mark !== undefined) return mark;
      await untilGone(removals);
    }
  }

  async function begins(): Promise<Document<MarkDocument>[]> {
    return (await store.query<MarkDocument>(BEGINS)).items;
  }

  return {
    get begun() {
      return begun;
    },
    async begin(body) {
      const mark = await enter();
      begun++;
      try {
        return await body();
      } finally {
        await leave(mark);
      }
    },
    async remove(body) {
      const mark = await enterAlone();
      try {
        await untilGone(begins);
        await pause(INDEX_LAG_MS);
        // Others may have begun since the last turn, and nobody counts them.
        begun++;
        return await body();
      } finally {
        mayRemoveAtMs = clock.now() + LOOK_EVERY_MS + LOOK_AFTER_MS;
        await leave(mark);
      }
    },
  };
}

/** What was done is done, also where nobody can say so: the mark dies by itself then. */
async function leave(mark: Mark): Promise<void> {
  await mark.remove().catch(() => undefined);
}

async function removeMark(store: Store, key: DocumentKey, version: number): Promise<void> {
  const nobody: MarkDocument = { v: 1, by: NOBODY };
  try {
    if (key.partition === BEGINS) await store.delete(key, { ifVersion: version });
    else await store.put(key, nobody, { ifVersion: version });
  } catch (error) {
    // Somebody else removed or renewed it.
    if (!isConflict(error)) throw error;
  }
}
