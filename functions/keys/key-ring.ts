import type { KeyRecord, KeyScope } from "../../sdk/schema/key.ts";
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
}

export interface KeyRing {
  /** Undefined for unknown and revoked keys. Known keys are answered from memory. */
  find(key: string): Promise<KeyHolder | undefined>;
  /** Writers of key documents call this. */
  set(id: string, document: Versioned<KeyDocument>): void;
}

export const KEYS = "keys";
const KEY_PREFIX = "sk-spotter-";
const RANK: Record<KeyScope, number> = { chat: 0, write: 1, admin: 2 };

export function createKeyRing(store: Store, rootKeyHash: string | undefined): KeyRing {
  const cache = createCache((id) => store.get<KeyDocument>({ partition: KEYS, sort: id }));
  return {
    async find(key) {
      if (!key.startsWith(KEY_PREFIX)) return undefined;
      const hash = sha256Of(key);
      if (rootKeyHash !== undefined && sameHash(hash, rootKeyHash)) return { id: "root", scope: "admin" };
      const id = keyId(hash);
      const document = await cache.get(id);
      if (document === undefined || !sameHash(document.hash, hash)) return undefined;
      const { record } = document;
      if (record.revokedAtMs !== undefined) return undefined;
      return { id, scope: record.scope, ...(record.endpoints && { endpoints: record.endpoints }) };
    },
    set: (id, document) => cache.set(id, document),
  };
}

export function newKey(secret: string): { key: string; hash: string; id: string } {
  const key = KEY_PREFIX + secret;
  const hash = sha256Of(key);
  return { key, hash, id: keyId(hash) };
}

export function allows(holder: KeyHolder, scope: KeyScope): boolean {
  return RANK[holder.scope] >= RANK[scope];
}

function keyId(hash: string): string {
  return hash.slice(0, 16);
}
