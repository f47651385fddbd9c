import type { KeyLimits, KeyRecord, KeyScope } from "../../sdk/schema/key.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import { createCache, type Versioned } from "../records/cache.ts";
import { sameHash, sha256Of } from "../records/hash.ts";

/** A key as stored: its hash, never the key. The document id is the start of the hash. */
export interface KeyDocument {
  v: 1;
  record: KeyRecord;
  hash: string;
}

/** Who a Bearer key belongs to. */
export interface KeyHolder {
  id: string;
  scope: KeyScope;
  endpoints?: string[];
  limits?: KeyLimits;
  /** The key of this process, which is stored nowhere: without limits and not counted. */
  isRoot?: boolean;
}

export interface KeyRing {
  /** Undefined for unknown and revoked keys. Known keys are answered from memory. */
  find(key: string): Promise<KeyHolder | undefined>;
  /** The same as of now, for who was let in long ago. */
  findNow(key: string): Promise<KeyHolder | undefined>;
  /** Writers of key documents call this. */
  set(id: string, document: Versioned<KeyDocument>): void;
  /** Reads the keys again that were used since the last call, where other processes may have changed them. */
  refresh(): Promise<void>;
}

export interface KeyRingParams {
  store: Store;
  clock: Clock;
  /** SHA-256 of the key of this process. */
  rootKeyHash?: string | undefined;
  /**
   * How old what is known of a key may be. Default: any age, as all writers are in this process and call `set`.
   */
  maxAgeMs?: number | undefined;
}

/** A key, and what is made of it once. */
interface Known {
  hash: string;
  holder: KeyHolder | undefined;
}

export const KEYS = "keys";
const KEY_PREFIX = "sk-spotter-";
const RANK: Record<KeyScope, number> = { chat: 0, write: 1, admin: 2 };

export function createKeyRing({ store, clock, rootKeyHash, maxAgeMs }: KeyRingParams): KeyRing {
  const ring = createCache<Known>(
    async (id) => {
      const document = await store.get<KeyDocument>({ partition: KEYS, sort: id });
      return document && known(document);
    },
    { clock, maxAgeMs },
  );

  function isRoot(hash: string): boolean {
    return rootKeyHash !== undefined && sameHash(hash, rootKeyHash);
  }

  return {
    async find(key) {
      if (!key.startsWith(KEY_PREFIX)) return undefined;
      const hash = sha256Of(key);
      if (isRoot(hash)) return ROOT;
      const id = keyId(hash);
      return matching(ring.peek(id) ?? (await ring.get(id)), hash);
    },
    async findNow(key) {
      if (!key.startsWith(KEY_PREFIX)) return undefined;
      const hash = sha256Of(key);
      return isRoot(hash) ? ROOT : matching(await ring.getNow(keyId(hash)), hash);
    },
    set: (id, document) => ring.set(id, known(document)),
    refresh: () => ring.refresh(),
  };
}

function matching(found: Known | undefined, hash: string): KeyHolder | undefined {
  return found !== undefined && sameHash(found.hash, hash) ? found.holder : undefined;
}

function known({ value, version }: Versioned<KeyDocument>): Versioned<Known> {
  return { value: { hash: value.hash, holder: holderOf(value) }, version };
}

const ROOT: KeyHolder = { id: "root", scope: "admin", isRoot: true };

export function newKey(secret: string): { key: string; hash: string; id: string } {
  const key = KEY_PREFIX + secret;
  const hash = sha256Of(key);
  return { key, hash, id: keyId(hash) };
}

export function allows(holder: KeyHolder, scope: KeyScope): boolean {
  return RANK[holder.scope] >= RANK[scope];
}

function holderOf({ record }: KeyDocument): KeyHolder | undefined {
  if (record.revokedAtMs !== undefined) return undefined;
  const { id, scope, endpoints, limits } = record;
  return { id, scope, ...(endpoints && { endpoints }), ...(limits && { limits }) };
}

function keyId(hash: string): string {
  return hash.slice(0, 16);
}
