import type { Alias } from "../../sdk/schema/alias.ts";
import type { DocumentKey, Store } from "../ports/store.ts";
import { collect } from "../records/update.ts";

/** An alias as stored. One that was removed stays as a gap, so that versions go on. */
export interface AliasDocument {
  v: 1;
  alias: Alias;
  removed?: true;
}

/** Every alias in memory: the chat path asks here and never the Store. Writers keep it current. */
export interface AliasTable {
  /** Resolves when the table has been read once. */
  load(): Promise<void>;
  find(name: string): Alias | undefined;
  /** By name. */
  all(): Alias[];
  set(document: AliasDocument, version: number): void;
}

export const ALIASES = "aliases";

export function aliasKey(name: string): DocumentKey {
  return { partition: ALIASES, sort: name };
}

export function createAliasTable(store: Store): AliasTable {
  const known = new Map<string, { document: AliasDocument; version: number }>();
  let loading: Promise<void> | undefined;

  function set(document: AliasDocument, version: number): void {
    const { name } = document.alias;
    const before = known.get(name);
    if (before === undefined || before.version < version) known.set(name, { document, version });
  }

  async function readAll(): Promise<void> {
    await collect<AliasDocument>(async (after) => {
      const page = await store.query<AliasDocument>(ALIASES, after === undefined ? {} : { after });
      for (const { value, version } of page.items) set(value, version);
      return page;
    });
  }

  function live({ document }: { document: AliasDocument }): Alias | undefined {
    return document.removed ? undefined : document.alias;
  }

  return {
    async load() {
      loading ??= readAll();
      try {
        await loading;
      } catch (error) {
        loading = undefined;
        throw error;
      }
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
  };
}
