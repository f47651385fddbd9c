import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { EndpointDocument } from "../endpoints/records.ts";
import type { Store } from "../ports/store.ts";
import { collect } from "../records/update.ts";

/** Every endpoint in memory: the chat path asks here and never the Store. Writers keep it current. */
export interface RouteTable {
  /** Resolves when the table has been read once. */
  load(): Promise<void>;
  find(name: string): Endpoint | undefined;
  all(): Endpoint[];
  set(endpoint: Endpoint, version: number): void;
  /** Calls back with each endpoint that is new or has changed. Returns the way to stop that. */
  onChange(listener: (endpoint: Endpoint) => void): () => void;
  /** Latest checkpoint of a run, kept after the first look. */
  latestCheckpoint(runId: string): Promise<string | undefined>;
  setLatestCheckpoint(runId: string, id: string): void;
  /** It may be gone: the next look asks again. */
  forgetLatestCheckpoint(runId: string): void;
}

export function createRouteTable(store: Store): RouteTable {
  const endpoints = new Map<string, { endpoint: Endpoint; version: number }>();
  const latest = new Map<string, string>();
  const listeners = new Set<(endpoint: Endpoint) => void>();
  let loading: Promise<void> | undefined;
  let isLoaded = false;

  function set(endpoint: Endpoint, version: number): void {
    const known = endpoints.get(endpoint.name);
    if (known !== undefined && known.version >= version) return;
    endpoints.set(endpoint.name, { endpoint, version });
    for (const listener of listeners) listener(endpoint);
  }

  async function readAll(): Promise<void> {
    await collect<EndpointDocument>(async (after) => {
      const page = await store.query<EndpointDocument>("endpoints", { after });
      for (const { value, version } of page.items) set(value.endpoint, version);
      return page;
    });
  }

  return {
    async load() {
      if (isLoaded) return;
      try {
        await (loading ??= readAll());
        isLoaded = true;
      } finally {
        // A Store that was away at the first request must not lock the door for good.
        loading = undefined;
      }
    },
    find: (name) => endpoints.get(name)?.endpoint,
    all: () => [...endpoints.values()].map((entry) => entry.endpoint),
    set,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async latestCheckpoint(runId) {
      const known = latest.get(runId);
      if (known !== undefined) return known;
      const page = await store.query<{ id: string }>(`checkpoints/${runId}`, { reverse: true, limit: 1 });
      const id = page.items[0]?.value.id;
      if (id !== undefined && !latest.has(runId)) latest.set(runId, id);
      return latest.get(runId);
    },
    forgetLatestCheckpoint: (runId) => void latest.delete(runId),
    setLatestCheckpoint: (runId, id) => void latest.set(runId, id),
  };
}
