/** What the gateways count for one endpoint, summed up. */
export interface Load {
  /** Requests that a replica works on. */
  inFlight: number;
  /** Accepted requests that wait for a replica. */
  queued: number;
  /** When a request was last accepted; undefined if none was since somebody counts. */
  lastAcceptedAtMs: number | undefined;
  /** Requests accepted since somebody counts. */
  accepted: number;
  /** Integral of `inFlight + queued` over time, in request-milliseconds. */
  demandMs: number;
}

/** One endpoint at one moment. */
export interface Snapshot {
  /** What was decided last. */
  desired: number;
  /** Replicas that take requests. */
  ready: number;
  /** Replicas that will take requests: waiting for a place, starting or loading. */
  starting: number;
  /** Undefined if nobody could tell: then everything stays as it is. */
  load: Load | undefined;
}

/** What the next decision needs to know of the ones before. Plain JSON. */
export interface ScalerState {
  /** Begin of the time without a gap in what is known. */
  watchedSinceMs: number;
  /** Newest last; they reach back as far as the longest average. */
  samples: readonly Sample[];
  /** Wants within the scale-down window that no later one exceeds: the first is the largest. */
  peaks: readonly Peak[];
  /** Nothing falls before this time. */
  panicUntilMs: number;
  /** How long requests take, as far as it is known. Kept over gaps and sleep. */
  service: Service;
}

export interface Sample {
  atMs: number;
  demandMs: number;
  /** Integral of `queued`. */
  queuedMs: number;
  accepted: number;
  inFlight: number;
  queued: number;
}

export interface Peak {
  atMs: number;
  want: number;
}

/** Both fade with time; the first over the second is the time a replica takes for a request. */
export interface Service {
  busyMs: number;
  ended: number;
}

export type Reason =
  /** As the load needs. */
  | "load"
  /** The load of the last seconds is twice what is ready. */
  | "burst"
  /** Somebody waits and nothing is there. */
  | "wake"
  /** The load has been lower for the whole scale-down window. */
  | "low-load"
  /** No request for the idle timeout. */
  | "idle"
  /** Outside of min and max, which were changed. */
  | "bounds"
  /** Nobody could tell the load. */
  | "no-data"
  | "steady";

export interface Decision {
  desired: number;
  reason: Reason;
  nextState: ScalerState;
}
