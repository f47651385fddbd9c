import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { EndpointDocument } from "../endpoints/records.ts";
import type { Store } from "../ports/store.ts";
import { createFollower, type Sharing } from "../records/follow.ts";
import { adopt } from "../records/listing.ts";
import { collect } from "../records/update.ts";
import { createLatestCheckpoints } from "./latest-checkpoints.ts";

/**
 * Every endpoint in memory: the chat path asks here and never the Store. Writers keep it current; where there are
 * other processes, so does a look in the background.
 */
export interface RouteTable {
  /** Resolves when the table may be used. */
  load(): Promise<void>;
  /** Looks for what other processes have written this moment. */
  lookAgain(): Promise<void>;
  /** Grows with everything that is new, has changed or is gone. */
  readonly changes: number;
  find(name: string): Endpoint | undefined;
  all(): Endpoint[];
  set(endpoint: Endpoint, version: number): void;
  /**
   * Calls back with each endpoint that is new or has changed, and with each that is gone, as stopped. Returns the
   * way to stop that.
   */
  onChange(listener: (endpoint: Endpoint) => void): () => void;
  /** Latest checkpoint of a run, kept after the first look. */
  latestCheckpoint(runId: string): Promise<string | undefined>;
  setLatestCheckpoint(runId: string, id: string): void;
  /** It may be gone: the next look asks again. */
  forgetLatestCheckpoint(runId: string): void;
  /** Looks no more in the background. */
  close(): void;
}

interface Entry {
  endpoint: Endpoint;
  version: number;
}

export function createRouteTable(store: Store, sharing?: Sharing): RouteTable {
  const endpoints = new Map<string, Entry>();
  const latest = createLatestCheckpoints(store, sharing);
  const listeners = new Set<(endpoint: Endpoint) => void>();
  const follower = createFollower(async () => {
    await readAll();
    if (sharing !== undefined) await latest.refresh();
  }, sharing);

  let changes = 0;

  function tell(endpoint: Endpoint): void {
    changes++;
    for (const listener of listeners) listener(endpoint);
  }

  function set(endpoint: Endpoint, version: number): void {
    const known = endpoints.get(endpoint.name);
    if (known !== undefined && known.version >= version) return;
    endpoints.set(endpoint.name, { endpoint, version });
    tell(endpoint);
  }

  async function readAll(): Promise<void> {
    const before = new Map(endpoints);
    const listed = new Map<string, Entry>();
    await collect<EndpointDocument>(async (after) => {
      const page = await store.query<EndpointDocument>("endpoints", { after });
      for (const { key, value, version } of page.items)
        listed.set(key.sort, { endpoint: value.endpoint, version });
      return page;
    });
    adopt(endpoints, before, listed, {
      changed: ({ endpoint }) => tell(endpoint),
      gone: ({ endpoint }) => tell({ ...endpoint, state: "stopped", desired: 0, replicas: [] }),
    });
  }

  return {
    load: () => follower.load(),
    lookAgain: () => follower.lookAgain(),
    get changes() {
      return changes;
    },
    find: (name) => endpoints.get(name)?.endpoint,
    all: () => [...endpoints.values()].map((entry) => entry.endpoint),
    set,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    latestCheckpoint: (runId) => latest.get(runId),
    forgetLatestCheckpoint: (runId) => latest.forget(runId),
    setLatestCheckpoint: (runId, id) => latest.set(runId, id),
    close: () => follower.close(),
  };
}
