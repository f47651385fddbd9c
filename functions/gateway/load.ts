import type { Clock } from "../ports/clock.ts";

/** What one endpoint has to do at one moment, as this gateway sees it. */
export interface EndpointLoad {
  /** Requests that a replica works on. */
  inFlight: number;
  /** Requests that were accepted and wait for a replica. */
  queued: number;
  /** How long the one that waits longest has waited; 0 when none does. */
  oldestWaitMs: number;
  /** When a request was last accepted; undefined before the first one. Refused ones do not count. */
  lastAcceptedAtMs: number | undefined;
  /** In-flight requests by the job id of their replica. A replica that is absent has none. */
  inFlightByReplica: ReadonlyMap<string, number>;
  /** Requests accepted since this book was opened. */
  accepted: number;
  /**
   * Integral of `inFlight + queued` over time, in request-milliseconds, since this book was opened. The
   * difference of two snapshots over the time between them is the exact average.
   */
  demandMs: number;
  /** The same of `inFlight` alone: what replicas have worked. */
  busyMs: number;
}

/** One request that was accepted: it waits, then a replica works on it, then it is over. */
export interface Ticket {
  readonly acceptedAtMs: number;
  /** A replica took it; a second call moves it to another replica. Without effect once it is over. */
  start(jobId: string): void;
  /** It is over. Only the first call counts, so every way out may call it. */
  end(): void;
}

/** Counts the requests of every endpoint. It is the only place that knows both those that run and those that wait. */
export interface LoadBook {
  accept(endpoint: string): Ticket;
  snapshot(endpoint: string): EndpointLoad;
  /** The two figures that routing asks for with each request, without a snapshot. */
  queued(endpoint: string): number;
  inFlightOn(endpoint: string, jobId: string): number;
  /** Calls back with each request that is accepted, before anybody waits. Returns the way to stop that. */
  onAccept(listener: (endpoint: string) => void): () => void;
  /** Calls back when a replica has nothing in flight any more. Returns the way to stop that. */
  onIdle(listener: (endpoint: string, jobId: string) => void): () => void;
}

interface Page {
  waiting: Ticket[];
  inFlight: number;
  byReplica: Map<string, number>;
  lastAcceptedAtMs: number;
  accepted: number;
  demandMs: number;
  busyMs: number;
  countedUntilMs: number;
}

export function createLoadBook(clock: Clock): LoadBook {
  const pages = new Map<string, Page>();
  const listeners = new Set<(endpoint: string, jobId: string) => void>();
  const acceptListeners = new Set<(endpoint: string) => void>();

  function leave(endpoint: string, page: Page, jobId: string): void {
    page.inFlight--;
    const left = (page.byReplica.get(jobId) ?? 1) - 1;
    if (left > 0) return void page.byReplica.set(jobId, left);
    page.byReplica.delete(jobId);
    for (const listener of listeners) listener(endpoint, jobId);
  }

  function accept(endpoint: string): Ticket {
    const nowMs = clock.now();
    const page = pages.get(endpoint) ?? newPage(nowMs);
    pages.set(endpoint, page);
    count(page, nowMs);
    page.lastAcceptedAtMs = nowMs;
    page.accepted++;
    let replica: string | undefined;
    let isOver = false;
    const ticket: Ticket = {
      acceptedAtMs: nowMs,
      start(jobId) {
        if (isOver || replica === jobId) return;
        count(page, clock.now());
        // In this order a move never shows fewer requests than there are.
        page.byReplica.set(jobId, (page.byReplica.get(jobId) ?? 0) + 1);
        page.inFlight++;
        const before = replica;
        replica = jobId;
        if (before === undefined) remove(page.waiting, ticket);
        else leave(endpoint, page, before);
      },
      end() {
        if (isOver) return;
        isOver = true;
        count(page, clock.now());
        if (replica === undefined) remove(page.waiting, ticket);
        else leave(endpoint, page, replica);
      },
    };
    page.waiting.push(ticket);
    for (const listener of acceptListeners) listener(endpoint);
    return ticket;
  }

  return {
    accept,
    snapshot(endpoint) {
      const page = pages.get(endpoint);
      return page === undefined ? { ...NOTHING, inFlightByReplica: new Map() } : shown(page, clock.now());
    },
    queued: (endpoint) => pages.get(endpoint)?.waiting.length ?? 0,
    inFlightOn: (endpoint, jobId) => pages.get(endpoint)?.byReplica.get(jobId) ?? 0,
    onAccept(listener) {
      acceptListeners.add(listener);
      return () => acceptListeners.delete(listener);
    },
    onIdle(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const NOTHING = {
  inFlight: 0,
  queued: 0,
  oldestWaitMs: 0,
  lastAcceptedAtMs: undefined,
  accepted: 0,
  demandMs: 0,
  busyMs: 0,
};

function newPage(nowMs: number): Page {
  return {
    waiting: [],
    inFlight: 0,
    byReplica: new Map(),
    lastAcceptedAtMs: nowMs,
    accepted: 0,
    demandMs: 0,
    busyMs: 0,
    countedUntilMs: nowMs,
  };
}

/** Of a list in the order of arrival: most leave it at once, or when they are the first. */
function remove(waiting: Ticket[], ticket: Ticket): void {
  if (waiting.at(-1) === ticket) waiting.pop();
  else if (waiting[0] === ticket) waiting.shift();
  else {
    const index = waiting.indexOf(ticket);
    if (index !== -1) waiting.splice(index, 1);
  }
}

/** Adds what the time since the last change amounts to. A clock that jumps back adds nothing. */
function count(page: Page, nowMs: number): void {
  const sinceMs = Math.max(0, nowMs - page.countedUntilMs);
  page.demandMs += (page.inFlight + page.waiting.length) * sinceMs;
  page.busyMs += page.inFlight * sinceMs;
  page.countedUntilMs = nowMs;
}

function shown(page: Page, nowMs: number): EndpointLoad {
  count(page, nowMs);
  const [oldest] = page.waiting;
  return {
    inFlight: page.inFlight,
    queued: page.waiting.length,
    oldestWaitMs: oldest === undefined ? 0 : Math.max(0, nowMs - oldest.acceptedAtMs),
    lastAcceptedAtMs: page.lastAcceptedAtMs,
    inFlightByReplica: new Map(page.byReplica),
    accepted: page.accepted,
    demandMs: page.demandMs,
    busyMs: page.busyMs,
  };
}
