import type { KeyUsage } from "../../sdk/schema/key.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock, Log } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import { addUsage, monthOf, noUsage, readUsage, sumOf } from "./usage.ts";

/**
 * What every key used this month, counted in memory and added to the Store each second: a process that is
 * killed loses at most that.
 */
export interface UsageBook {
  /** Reads what is stored for a key, once; resolves at once when it is known. */
  load(keyId: string): Promise<void>;
  /** This month's use of a key that was loaded: stored, and counted since. */
  of(keyId: string): KeyUsage;
  add(keyId: string, added: Omit<KeyUsage, "month">): void;
  /** Writes down what was counted. */
  flush(): Promise<void>;
  /** Writes down what was counted, and counts no more. */
  close(): Promise<void>;
}

export interface UsageBookParams {
  store: Store;
  clock: Clock;
  log: Log;
  /** Called with every flush, about once a second while keys are in use. */
  onFlush?: () => Promise<void>;
}

export const FLUSH_EVERY_MS = 1_000;

interface Account {
  keyId: string;
  stored: KeyUsage;
  pending: KeyUsage;
}

export function createUsageBook({ store, clock, log, onFlush }: UsageBookParams): UsageBook {
  const accounts = new Map<string, Account>();
  const loading = new Map<string, Promise<void>>();
  const dirty = new Set<Account>();
  let cancelTimer: (() => void) | undefined;
  let flushing: Promise<void> | undefined;
  let closed = false;

  function idOf(keyId: string): string {
    return `${monthOf(clock.now())}/${keyId}`;
  }

  function account(keyId: string): Account {
    const id = idOf(keyId);
    const known = accounts.get(id);
    if (known !== undefined) return known;
    const month = monthOf(clock.now());
    const created = { keyId, stored: noUsage(month), pending: noUsage(month) };
    accounts.set(id, created);
    return created;
  }

  async function read(keyId: string): Promise<void> {
    const mine = account(keyId);
    mine.stored = await readUsage(store, keyId, mine.stored.month);
  }

  function schedule(): void {
    if (closed || cancelTimer !== undefined) return;
    cancelTimer = clock.after(FLUSH_EVERY_MS, () => {
      cancelTimer = undefined;
      void flush();
    });
  }

  /** What cannot be written now is kept and tried again: a Store that is away costs nobody their count. */
  async function write(each: Account): Promise<void> {
    const sent = each.pending;
    each.pending = noUsage(sent.month);
    dirty.delete(each);
    try {
      each.stored = await addUsage(store, each.keyId, sent);
    } catch (error) {
      each.pending = sumOf(sent, each.pending);
      dirty.add(each);
      log.warn("usage of a key was not written", {
        key: each.keyId,
        error: SpotterError.from(error).message,
      });
      schedule();
    }
    if (each.stored.month !== monthOf(clock.now()) && !dirty.has(each))
      accounts.delete(`${each.stored.month}/${each.keyId}`);
  }

  async function writeAll(): Promise<void> {
    await Promise.all([...dirty].map(write));
    await onFlush?.();
  }

  async function flush(): Promise<void> {
    await flushing;
    flushing = writeAll().catch((error: unknown) => {
      log.warn("keys were not read again", { error: SpotterError.from(error).message });
    });
    await flushing;
  }

  return {
    async load(keyId) {
      const id = idOf(keyId);
      if (accounts.has(id) && !loading.has(id)) return;
      const begun = loading.get(id) ?? read(keyId);
      loading.set(id, begun);
      try {
        await begun;
      } catch (error) {
        accounts.delete(id);
        throw error;
      } finally {
        loading.delete(id);
      }
    },
    of(keyId) {
      const { stored, pending } = account(keyId);
      return sumOf(stored, pending);
    },
    add(keyId, added) {
      const mine = account(keyId);
      mine.pending = sumOf(mine.pending, { month: mine.pending.month, ...added });
      dirty.add(mine);
      schedule();
    },
    flush,
    async close() {
      closed = true;
      cancelTimer?.();
      await flush();
    },
  };
}
