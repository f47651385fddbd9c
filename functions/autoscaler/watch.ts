import type { Document } from "../ports/store.ts";
import type { GatewayDocument, PublishedLoad } from "./gateway-records.ts";
import type { Load } from "./views.ts";

/** A gateway that has written nothing for so long may be gone, or cut off and busy. */
const STALE_MS = 6_000;
/** After this it is gone. */
const DEAD_MS = 60_000;
const NOTHING: Load = {
  inFlight: 0,
  queued: 0,
  lastAcceptedAtMs: undefined,
  accepted: 0,
  demandMs: 0,
  busyMs: 0,
};

/**
 * What other gateways have to do, learned by watching their records. Clocks are never compared: a gateway is alive
 * while its record changes. Pure but for what it remembers.
 */
export interface Watch {
  see(documents: Document<GatewayDocument>[], nowMs: number): void;
  /** Summed up over the others. Counters never fall, whoever comes or goes. */
  load(endpoint: string, nowMs: number): Load;
  /** Others that live. */
  live(nowMs: number): number;
  /** One of them was not heard of lately, or never twice: nobody can tell what it has to do. */
  isUncertain(nowMs: number): boolean;
  /** Records of gateways that are gone for good. */
  dead(): Document<GatewayDocument>[];
}

interface Seen {
  document: Document<GatewayDocument>;
  changedAtMs: number;
  /** It was seen to change, so it is no leftover. */
  isAlive: boolean;
  isDead: boolean;
}

type Counters = Pick<Load, "accepted" | "demandMs" | "busyMs" | "lastAcceptedAtMs">;

export function createWatch(): Watch {
  const gateways = new Map<string, Seen>();
  const totals = new Map<string, Counters>();
  const shown = new Map<string, Pick<Load, "demandMs" | "busyMs">>();

  function see(documents: Document<GatewayDocument>[], nowMs: number): void {
    const listed = new Set(documents.map(({ value }) => value.id));
    for (const [id, seen] of gateways) if (!listed.has(id)) leave(id, seen, nowMs);
    for (const document of documents) {
      const before = gateways.get(document.value.id);
      if (before?.document.version === document.version) {
        if (nowMs - before.changedAtMs > DEAD_MS) die(before);
        continue;
      }
      // What it counted while nobody watched is no news.
      if (before !== undefined && !before.isDead) add(before, document.value, nowMs);
      for (const [name, { sinceAcceptedMs }] of Object.entries(document.value.load)) {
        const total = totalOf(name);
        total.lastAcceptedAtMs = Math.max(total.lastAcceptedAtMs ?? 0, nowMs - sinceAcceptedMs);
      }
      const isAlive = before !== undefined;
      gateways.set(document.value.id, { document, changedAtMs: nowMs, isAlive, isDead: false });
    }
  }

  function leave(id: string, seen: Seen, nowMs: number): void {
    if (!seen.isDead) settle(seen, nowMs);
    gateways.delete(id);
  }

  function die(seen: Seen): void {
    if (!seen.isDead) settle(seen, seen.changedAtMs + DEAD_MS);
    seen.isDead = true;
  }

  /** Keeps what was guessed for the time since its last word, as that was shown already. */
  function settle({ document, changedAtMs }: Seen, untilMs: number): void {
    for (const [name, load] of Object.entries(document.value.load)) {
      const total = totalOf(name);
      const ms = Math.max(0, untilMs - changedAtMs);
      total.demandMs += (load.inFlight + load.queued) * ms;
      total.busyMs += load.inFlight * ms;
    }
  }

  function add(before: Seen, after: GatewayDocument, nowMs: number): void {
    if (nowMs - before.changedAtMs > STALE_MS) settleGuess(before, after, nowMs);
    for (const [name, load] of Object.entries(after.load)) {
      const total = totalOf(name);
      const last = before.document.value.load[name];
      total.accepted += Math.max(0, load.accepted - (last?.accepted ?? 0));
      total.demandMs += Math.max(0, load.demandMs - (last?.demandMs ?? 0));
      total.busyMs += Math.max(0, load.busyMs - (last?.busyMs ?? 0));
    }
  }

  /** Where the guess was too high for long, the sum would stand still for as long again. */
  function settleGuess({ document, changedAtMs }: Seen, after: GatewayDocument, nowMs: number): void {
    for (const [name, load] of Object.entries(document.value.load)) {
      const now = after.load[name] ?? load;
      const total = totalOf(name);
      const ms = nowMs - changedAtMs;
      total.demandMs += Math.max(0, (load.inFlight + load.queued) * ms - (now.demandMs - load.demandMs));
      total.busyMs += Math.max(0, load.inFlight * ms - (now.busyMs - load.busyMs));
    }
  }

  function totalOf(name: string): Counters {
    const known = totals.get(name);
    if (known !== undefined) return known;
    const created = { accepted: 0, demandMs: 0, busyMs: 0, lastAcceptedAtMs: undefined };
    totals.set(name, created);
    return created;
  }

  function load(name: string, nowMs: number): Load {
    const sum = { ...NOTHING, ...totals.get(name) };
    for (const { document, changedAtMs, isDead } of gateways.values()) {
      const each = document.value.load[name];
      if (each !== undefined && !isDead) addTo(sum, each, Math.max(0, nowMs - changedAtMs));
    }
    const before = shown.get(name);
    sum.demandMs = Math.max(sum.demandMs, before?.demandMs ?? 0);
    sum.busyMs = Math.max(sum.busyMs, before?.busyMs ?? 0);
    if (sum.demandMs > 0) shown.set(name, { demandMs: sum.demandMs, busyMs: sum.busyMs });
    return sum;
  }

  return {
    see,
    load,
    live: (nowMs) => count(gateways, ({ changedAtMs }) => nowMs - changedAtMs <= STALE_MS),
    isUncertain: (nowMs) =>
      count(
        gateways,
        ({ changedAtMs, isAlive, isDead }) => !isDead && (!isAlive || nowMs - changedAtMs > STALE_MS),
      ) > 0,
    dead: () => [...gateways.values()].flatMap(({ document, isDead }) => (isDead ? [document] : [])),
  };
}

/** As it was when it was written, and as if it had gone on like that since. */
function addTo(sum: Load, each: PublishedLoad, ms: number): void {
  sum.inFlight += each.inFlight;
  sum.queued += each.queued;
  sum.demandMs += (each.inFlight + each.queued) * ms;
  sum.busyMs += each.inFlight * ms;
}

function count(gateways: Map<string, Seen>, test: (seen: Seen) => boolean): number {
  let found = 0;
  for (const seen of gateways.values()) if (test(seen)) found++;
  return found;
}
