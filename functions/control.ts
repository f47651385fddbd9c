import type { Deps } from "./deps.ts";
import { createAliasTable, type AliasTable } from "./aliases/alias-table.ts";
import { createBus, type Bus } from "./events/bus.ts";
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
import { upcasting } from "./records/upcast.ts";
import { createSessions, type Sessions } from "./pages/sessions.ts";

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
  /** Asks for what is to be told about runs to be sent soon. */
  wakeWebhooks(): void;
  /** Whether a replica lists its models: the last condition before it counts as ready. */
  probe(address: string, accessKey: string): Promise<boolean>;
  /** Ends the program that hosts this control plane. */
  shutdown(): void;
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
  const store = upcasting(deps.store);
  const watched = {
    ...deps,
    routes: createRouteTable(store),
    load: createLoadBook(deps.clock),
    tally: createTally(),
  };
  const { clock } = deps;
  const keys = createKeyRing({ store, clock, rootKeyHash: options.rootKeyHash });
  const usage = createUsageBook({ store, clock, log: deps.log, onFlush: () => keys.refresh() });
  const observer = createObserver(deps);
  const metrics = createMetrics(watched);
  observer.add(metrics);
  const bus = createBus(deps.clock);
  return {
    ...watched,
    store,
    observer,
    metrics,
    bus,
    slots: createSlots({ ...watched, bus, wake: options.wake }),
    pulse: createPulse(deps.clock),
    keys,
    usage,
    limits: createLimits({ clock, usage }),
    aliases: createAliasTable(store),
    jobTokens: createJobTokens(store),
    sessions: createSessions(deps.clock, deps.ids),
    gate: createGate(),
    startedAtMs: nowMs,
    activity: { lastAtMs: nowMs },
    wake: options.wake,
    wakeWebhooks: options.wakeWebhooks,
    probe: options.probe,
    shutdown: options.shutdown,
  };
}
