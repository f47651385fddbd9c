import type { Alias } from "../../sdk/schema/alias.ts";
import type { DocumentKey, Store } from "../ports/store.ts";
import { createFollower, type Sharing } from "../records/follow.ts";
import { adopt } from "../records/listing.ts";
import { collect } from "../records/update.ts";

/** An alias as stored. One that was removed stays as a gap, so that versions go on. */
export interface AliasDocument {
  v: 1;
  alias: Alias;
  removed?: true;
}

/**
 * Every alias in memory: the chat path asks here and never the Store. Writers keep it current; where there are other
 * processes, so does a look in the background.
 */
export interface AliasTable {
  /** Resolves when the table may be used. */
  load(): Promise<void>;
  /** As those of the route table. */
  lookAgain(): Promise<void>;
  readonly changes: number;
  find(name: string): Alias | undefined;
  /** By name. */
  all(): Alias[];
  set(document: AliasDocument, version: number): void;
  /** Looks no more in the background. */
  close(): void;
}

interface Entry {
  document: AliasDocument;
  version: number;
}

export const ALIASES = "aliases";

export function aliasKey(name: string): DocumentKey {
  return { partition: ALIASES, sort: name };
}

export function createAliasTable(store: Store, sharing?: Sharing): AliasTable {
  const known = new Map<string, Entry>();
  const follower = createFollower(readAll, sharing);
  let changes = 0;

  function set(document: AliasDocument, version: number): void {
    const { name } = document.alias;
    const before = known.get(name);
    if (before === undefined || before.version < version) known.set(name, { document, version });
  }

  async function readAll(): Promise<void> {
    const before = new Map(known);
    const listed = new Map<string, Entry>();
    await collect<AliasDocument>(async (after) => {
      const page = await store.query<AliasDocument>(ALIASES, after === undefined ? {} : { after });
      for (const { key, value, version } of page.items) listed.set(key.sort, { document: value, version });
      return page;
    });
    const count = () => void changes++;
    adopt(known, before, listed, { changed: count, gone: count });
  }

  function live({ document }: Entry): Alias | undefined {
    return document.removed ? undefined : document.alias;
  }

  return {
    load: () => follower.load(),
    lookAgain: () => follower.lookAgain(),
    get changes() {
      return changes;
    },
    find(name) {
      const found = known.get(name);
      return found && live(found);
    },
    all: () =>
      [...known.values()]
        .flatMap((entry) => live(entry) ?? [])
        .sort((left, right) => (left.name < right.name ? -1 : 1)),
    set,
    close: () => follower.close(),
  };
}
