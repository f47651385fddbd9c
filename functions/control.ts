import type { Deps } from "./deps.ts";
import { createAliasTable, type AliasTable } from "./aliases/alias-table.ts";
import { createLoneFleet, type Fleet } from "./autoscaler/fleet.ts";
import { createSharedFleet } from "./autoscaler/shared-fleet.ts";
import { endpointTopic } from "./endpoints/records.ts";
import { createBus, LOOK_EVERY_MS, type Bus } from "./events/bus.ts";
import { createLoadBook, type LoadBook } from "./gateway/load.ts";
import { createPulse, type Pulse } from "./gateway/pulse.ts";
import { createRouteTable, type RouteTable } from "./gateway/route-table.ts";
import { createSlots, type Slots } from "./gateway/slots.ts";
import { createJobTokens, type JobTokens } from "./jobs/tokens.ts";
import { createKeyRing, type KeyRing } from "./keys/key-ring.ts";
import { createLimits, type Limits } from "./keys/limits.ts";
import { createUsageBook, type UsageBook } from "./keys/usage-book.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import { createObserver, type Observer } from "./observability/observer.ts";
import { createTally, type Tally } from "./observability/tally.ts";
import { createGate, type Gate } from "./records/gate.ts";
import { createSharedGate } from "./records/shared-gate.ts";
import { upcasting } from "./records/upcast.ts";
import { createSessions, createSharedSessions, type Sessions } from "./pages/sessions.ts";

/** The ports, and what this process keeps in memory on top of them. Handlers get it as their one argument. */
export interface Control extends Deps {
  bus: Bus;
  keys: KeyRing;
  /** What keys use, and what they may. */
  usage: UsageBook;
  limits: Limits;
  routes: RouteTable;
  aliases: AliasTable;
  /** What the endpoints have to do: the gateway writes it, the reconciler reads it. */
  load: LoadBook;
  /** What all gateways have to do together. */
  fleet: Fleet;
  /** Gives replicas to requests. */
  slots: Slots;
  /** One timer for all requests under way. */
  pulse: Pulse;
  /** Told of every request of the gateway, for metrics, traces and the access log. */
  observer: Observer;
  /** Counts what is not a request. */
  tally: Tally;
  metrics: Metrics;
  jobTokens: JobTokens;
  sessions: Sessions;
  /** What begins to use something, and what removes the unused, take turns here. */
  gate: Gate;
  startedAtMs: number;
  activity: { lastAtMs: number };
  /** Asks the reconciler to look again soon. */
  wake(): void;
  /** Asks for what is to be told about runs, to webhooks and trackers, to be sent soon. */
  wakeWebhooks(): void;
  /** Whether a replica lists its models: the last condition before it counts as ready. */
  probe(address: string, accessKey: string): Promise<boolean>;
  /** Ends the program that hosts this control plane. */
  shutdown(): void;
  /** Ends what keeps this process up to date with others. */
  closeShared(): Promise<void>;
}

export interface ControlOptions {
  /** SHA-256 of a key that lives as long as this process and is stored nowhere. */
  rootKeyHash?: string;
  wake: () => void;
  wakeWebhooks: () => void;
  probe: (address: string, accessKey: string) => Promise<boolean>;
  shutdown: () => void;
}

export function createControl(deps: Deps, options: ControlOptions): Control {
  const nowMs = deps.clock.now();
  const { clock, ids, log, shared } = deps;
  const store = upcasting(deps.store);
  const sharing = shared && { shared, clock, log };
  const watched = {
    ...deps,
    routes: createRouteTable(store, sharing),
    load: createLoadBook(clock),
    tally: createTally(),
  };
  const { routes, load } = watched;
  const aliases = createAliasTable(store, sharing);
  const fleet = shared
    ? createSharedFleet({ store, clock, log, id: ids.next(), load, routes, shared })
    : createLoneFleet(load);
  const maxAgeMs = shared?.maxAgeMs;
  const keys = createKeyRing({ store, clock, rootKeyHash: options.rootKeyHash, maxAgeMs });
  const usage = createUsageBook({ store, clock, log, onFlush: () => keys.refresh() });
  const observer = createObserver(deps);
  const metrics = createMetrics(watched);
  observer.add(metrics);
  const bus = createBus(clock, shared ? LOOK_EVERY_MS : undefined);
  if (shared !== undefined) routes.onChange(({ name }) => bus.notify(endpointTopic(name)));
  return {
    ...watched,
    store,
    observer,
    metrics,
    bus,
    fleet,
    slots: createSlots({ ...watched, bus, wake: options.wake }),
    pulse: createPulse(clock),
    keys,
    usage,
    limits: createLimits({ clock, usage, fleet }),
    aliases,
    jobTokens: createJobTokens(store, { clock, maxAgeMs }),
    sessions: shared ? createSharedSessions({ store, clock, ids }) : createSessions(clock, ids),
    gate: shared ? createSharedGate({ store, clock, ids }) : createGate(),
    startedAtMs: nowMs,
    activity: { lastAtMs: nowMs },
    wake: options.wake,
    wakeWebhooks: options.wakeWebhooks,
    probe: options.probe,
    shutdown: options.shutdown,
    async closeShared() {
      routes.close();
      aliases.close();
      await fleet.close();
    },
  };
}
