import type { Clock } from "../ports/clock.ts";

/** A value and its version in the Store. */
export interface Versioned<T> {
  value: T;
  version: number;
}

/** Documents kept in memory. What is absent is not kept. */
export interface Cache<T> {
  get(id: string): Promise<T | undefined>;
  /** The same without a wait; undefined for what would have to be read first. */
  peek(id: string): T | undefined;
  /** As it is now, where others may have changed it. */
  getNow(id: string): Promise<T | undefined>;
  /** What is known, however old: for what never changes. */
  getOfAnyAge(id: string): Promise<T | undefined>;
  /** Writers say what they wrote; older news than what is known is ignored. */
  set(id: string, document: Versioned<T>): void;
  /** Reads again what was asked for since the last call, where others may have changed it. */
  refresh(): Promise<void>;
}

export interface CacheParams {
  clock: Pick<Clock, "now">;
  /** How old what is known may be. Default: any age, as all writers are in this process and call `set`. */
  maxAgeMs?: number | undefined;
}

interface Entry<T> extends Versioned<T> {
  readAtMs: number;
  isUsed: boolean;
}

/** A Store that is away cannot take news either: what is known holds for so long. */
const AWAY_MS = 300_000;
/** After a failure, so that not everybody waits for a Store that is away. */
const TRY_AGAIN_MS = 1_000;
const NO_CLOCK = { now: () => 0 };

export function createCache<T>(
  load: (id: string) => Promise<Versioned<T> | undefined>,
  { clock, maxAgeMs = Infinity }: CacheParams = { clock: NO_CLOCK },
): Cache<T> {
  const known = new Map<string, Entry<T>>();
  const reading = new Map<string, Promise<void>>();
  let failedAtMs = -Infinity;

  function set(id: string, { value, version }: Versioned<T>): void {
    const before = known.get(id);
    const readAtMs = clock.now();
    if (before !== undefined && before.version >= version) before.readAtMs = readAtMs;
    else known.set(id, { value, version, readAtMs, isUsed: before?.isUsed ?? false });
  }

  async function readNow(id: string): Promise<void> {
    try {
      const document = await load(id);
      if (document !== undefined) set(id, document);
      else if (maxAgeMs !== Infinity) known.delete(id);
    } catch (error) {
      failedAtMs = clock.now();
      throw error;
    } finally {
      reading.delete(id);
    }
  }

  function read(id: string): Promise<void> {
    const begun = reading.get(id) ?? readNow(id);
    reading.set(id, begun);
    return begun;
  }

  function peek(id: string): T | undefined {
    const entry = known.get(id);
    if (entry === undefined || clock.now() - entry.readAtMs > maxAgeMs) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  async function readAgain(id: string, { readAtMs }: Entry<T>): Promise<void> {
    const nowMs = clock.now();
    const mayStand = nowMs - readAtMs <= AWAY_MS;
    if (mayStand && nowMs - failedAtMs < TRY_AGAIN_MS) return;
    try {
      await read(id);
    } catch (error) {
      if (!mayStand) throw error;
    }
  }

  async function getNow(id: string): Promise<T | undefined> {
    const before = known.get(id);
    await (before === undefined ? read(id) : readAgain(id, before));
    const entry = known.get(id);
    if (entry !== undefined) entry.isUsed = true;
    return entry?.value;
  }

  return {
    get: async (id) => peek(id) ?? getNow(id),
    peek,
    getNow: async (id) => (maxAgeMs === Infinity ? (peek(id) ?? getNow(id)) : getNow(id)),
    async getOfAnyAge(id) {
      if (!known.has(id)) await read(id);
      return known.get(id)?.value;
    },
    set,
    async refresh() {
      if (maxAgeMs === Infinity) return;
      const used = [...known].filter(([, entry]) => entry.isUsed);
      for (const [, entry] of used) entry.isUsed = false;
      await Promise.all(used.map(([id]) => read(id)));
    },
  };
}
