import type { Clock, Ids } from "../ports/clock.ts";
import type { Document, DocumentKey, Store } from "../ports/store.ts";
import { isConflict } from "../records/conflict.ts";
import { sha256Of } from "../records/hash.ts";

const CODE_LIFETIME_MS = 60_000;
const SESSION_LIFETIME_MS = 24 * 60 * 60_000;

/** Browser sessions: a one-time code is exchanged for a cookie. */
export interface Sessions {
  createCode(): Promise<string>;
  /** The cookie value, once; undefined for codes that are unknown, used or old. */
  exchange(code: string): Promise<string | undefined>;
  isOpen(cookie: string): Promise<boolean>;
}

/** Sessions of this process, gone when it ends. */
export function createSessions(clock: Clock, ids: Ids): Sessions {
  const codes = new Map<string, number>();
  const sessions = new Map<string, number>();
  return {
    async createCode() {
      dropOld(codes, clock.now());
      const code = ids.secret(16);
      codes.set(sha256Of(code), clock.now() + CODE_LIFETIME_MS);
      return code;
    },
    async exchange(code) {
      const hash = sha256Of(code);
      const untilMs = codes.get(hash);
      codes.delete(hash);
      if (untilMs === undefined || untilMs <= clock.now()) return undefined;
      dropOld(sessions, clock.now());
      const cookie = ids.secret(24);
      sessions.set(sha256Of(cookie), clock.now() + SESSION_LIFETIME_MS);
      return cookie;
    },
    async isOpen(cookie) {
      const untilMs = sessions.get(sha256Of(cookie));
      return untilMs !== undefined && untilMs > clock.now();
    },
  };
}

function dropOld(map: Map<string, number>, nowMs: number): void {
  for (const [key, untilMs] of map) if (untilMs <= nowMs) map.delete(key);
}

/** A code or a cookie as stored: under its hash, so that whoever reads the Store can open nothing. */
interface PassDocument {
  v: 1;
  untilMs: number;
}

const CODES = "session-codes";
const COOKIES = "session-cookies";

export interface SharedSessionsParams {
  store: Store;
  clock: Pick<Clock, "now">;
  ids: Ids;
}

/** Sessions that any process answers, whichever made the code or took it. */
export function createSharedSessions({ store, clock, ids }: SharedSessionsParams): Sessions {
  async function add(partition: string, secret: string, lifetimeMs: number): Promise<void> {
    await removeOld(store, partition, clock.now());
    const value: PassDocument = { v: 1, untilMs: clock.now() + lifetimeMs };
    await store.put(keyOf(partition, secret), value, { ifVersion: 0 });
  }

  const find = (partition: string, secret: string) => store.get<PassDocument>(keyOf(partition, secret));

  return {
    async createCode() {
      const code = ids.secret(16);
      await add(CODES, code, CODE_LIFETIME_MS);
      return code;
    },
    async exchange(code) {
      const found = await find(CODES, code);
      if (found === undefined || !(await takeAway(store, found))) return undefined;
      if (found.value.untilMs <= clock.now()) return undefined;
      const cookie = ids.secret(24);
      await add(COOKIES, cookie, SESSION_LIFETIME_MS);
      return cookie;
    },
    async isOpen(cookie) {
      const found = cookie === "" ? undefined : await find(COOKIES, cookie);
      return found !== undefined && found.value.untilMs > clock.now();
    },
  };
}

function keyOf(partition: string, secret: string): DocumentKey {
  return { partition, sort: sha256Of(secret) };
}

/** Whether it was this caller who took it: of two that bring the same code one gets a cookie. */
async function takeAway(store: Store, { key, version }: Document): Promise<boolean> {
  try {
    await store.delete(key, { ifVersion: version });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** Few are made, so whoever makes one looks through those there are. */
async function removeOld(store: Store, partition: string, nowMs: number): Promise<void> {
  const { items } = await store.query<PassDocument>(partition, { limit: 1_000 });
  const old = items.filter(({ value }) => value.untilMs <= nowMs);
  await Promise.all(old.map(({ key }) => store.delete(key)));
}
