import type { Shared } from "../deps.ts";
import type { LoadBook } from "../gateway/load.ts";
import type { RouteTable } from "../gateway/route-table.ts";
import type { Clock, Log } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import { isConflict } from "../records/conflict.ts";
import { every } from "../records/every.ts";
import type { Fleet } from "./fleet.ts";
import {
  gatewayDocument,
  gatewayDocuments,
  gatewayKey,
  inFlightBy,
  type GatewayDocument,
} from "./gateway-records.ts";
import type { Load } from "./views.ts";
import { createWatch } from "./watch.ts";

export const PUBLISH_EVERY_MS = 2_000;
export const LOOK_EVERY_MS = 1_000;
/** Without a look for so long, nobody here knows what the others do. */
const BLIND_MS = 6_000;

export interface SharedFleetParams {
  store: Store;
  clock: Clock;
  log: Log;
  /** Of this process. */
  id: string;
  load: LoadBook;
  routes: RouteTable;
  shared: Pick<Shared, "wake">;
}

/** Gateways that know each other by the records they write. */
export function createSharedFleet(params: SharedFleetParams): Fleet {
  const { store, clock, id, load, routes, shared } = params;
  const watch = createWatch();
  const listeners = new Set<() => void>();
  let others: GatewayDocument[] = [];
  let lookedAtMs = -Infinity;
  let size = 1;
  let published: GatewayDocument | undefined;
  let publishedAtMs = -Infinity;
  let publishing: Promise<void> | undefined;
  let again = false;
  let isGateway = false;
  let ticking: { stop(): Promise<void> } | undefined;

  async function look(): Promise<void> {
    const documents = (await gatewayDocuments(store)).filter(({ value }) => value.id !== id);
    const nowMs = clock.now();
    watch.see(documents, nowMs);
    others = documents.map(({ value }) => value);
    lookedAtMs = nowMs;
    size = Math.max(1, watch.live(nowMs) + (isGateway ? 1 : 0));
    for (const listener of listeners) listener();
    for (const { key, version } of watch.dead()) {
      await store.delete(key, { ifVersion: version }).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    }
  }

  async function publish(): Promise<void> {
    const nowMs = clock.now();
    const before = published;
    const document = gatewayDocument(id, nowMs, routes.all(), load);
    await store.put(gatewayKey(id), document);
    published = document;
    publishedAtMs = nowMs;
    // Whoever stops replicas reads that this gateway is through with one.
    if (document.draining.some((jobId) => isThrough(document, jobId) && !isThrough(before, jobId)))
      shared.wake("reconciler");
  }

  /** At once, for what others must not learn two seconds late; many calls make one write. */
  function publishSoon(): Promise<void> {
    again = true;
    return (publishing ??= (async () => {
      try {
        while (again) {
          again = false;
          await publish();
        }
      } finally {
        publishing = undefined;
      }
    })());
  }

  /** What was not written now is written with the next tick. */
  function tell(then?: () => void): void {
    if (isGateway) publishSoon().then(then, () => void (publishedAtMs = -Infinity));
  }

  const unsubscribes = [
    routes.onChange(({ replicas }) => {
      const isNews = replicas.some(
        ({ jobId, state }) => state === "draining" && !published?.draining.includes(jobId),
      );
      if (isNews) tell();
    }),
    load.onIdle((endpoint, jobId) => {
      if (published?.draining.includes(jobId)) tell();
    }),
    load.onAccept((endpoint) => {
      if (!isGateway || routes.find(endpoint)?.desired !== 0) return;
      const known = published?.load[endpoint];
      // The first one who waits; later ones wake nobody.
      if (known === undefined || known.inFlight + known.queued === 0) tell(() => shared.wake("autoscaler"));
    }),
  ];

  async function tick(): Promise<void> {
    if (isGateway && clock.now() - publishedAtMs >= PUBLISH_EVERY_MS) await publishSoon();
    await look();
  }

  function shown(endpoint: string): Load {
    const mine = load.snapshot(endpoint);
    const theirs = watch.load(endpoint, clock.now());
    const last = Math.max(mine.lastAcceptedAtMs ?? 0, theirs.lastAcceptedAtMs ?? 0);
    return {
      inFlight: mine.inFlight + theirs.inFlight,
      queued: mine.queued + theirs.queued,
      lastAcceptedAtMs: last === 0 ? undefined : last,
      accepted: mine.accepted + theirs.accepted,
      demandMs: mine.demandMs + theirs.demandMs,
      busyMs: mine.busyMs + theirs.busyMs,
    };
  }

  async function follow(): Promise<void> {
    if (ticking !== undefined) return;
    ticking = every(params, LOOK_EVERY_MS, tick);
    await tick();
  }

  return {
    get size() {
      return size;
    },
    get isUncertain() {
      const nowMs = clock.now();
      return nowMs - lookedAtMs > BLIND_MS || watch.isUncertain(nowMs);
    },
    load: shown,
    inFlightOn: (endpoint, replica) =>
      load.inFlightOn(endpoint, replica.jobId) + inFlightBy(others, replica, clock.now()),
    look,
    follow,
    async join() {
      isGateway = true;
      await routes.load();
      await publishSoon();
      await (ticking === undefined ? follow() : look());
    },
    publish: async () => {
      if (isGateway) await publishSoon();
    },
    onLook(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      await ticking?.stop();
      await publishing?.catch(() => undefined);
      if (!isGateway) return;
      isGateway = false;
      await store.delete(gatewayKey(id)).catch(() => undefined);
      // Replicas may have waited for this gateway alone.
      if (published !== undefined && published.draining.length > 0) shared.wake("reconciler");
    },
  };
}

function isThrough(document: GatewayDocument | undefined, jobId: string): boolean {
  return document !== undefined && document.draining.includes(jobId) && (document.inFlight[jobId] ?? 0) === 0;
}
