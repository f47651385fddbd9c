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
  /** Integral of `inFlight` alone. */
  busyMs: number;
}

/** One endpoint at one moment. */
export interface Snapshot {
  /** Replicas that were decided last: those that are ready, start or wait for a place. */
  desired: number;
  /** Undefined if nobody could tell: then everything stays as it is. */
  load: Load | undefined;
}

/** What the next decision needs to know of the ones before. Plain JSON. */
export interface ScalerState {
  /** Begin of the time without a gap in what is known. */
  watchedSinceMs: number;
  /** Newest last; they reach back as far as the longest average. */
  samples: readonly Sample[];
  /** Wants within the scale-down window that no later one reaches: the first is the largest. */
  peaks: readonly Peak[];
  /** Nothing falls before this time. */
  holdUntilMs: number;
  /** How long requests take, as far as it is known. Kept over gaps and sleep. */
  service: Service;
}

export interface Sample {
  atMs: number;
  inFlight: number;
  queued: number;
  accepted: number;
  demandMs: number;
  busyMs: number;
}

export interface Peak {
  atMs: number;
  want: number;
}

/** Both fade with time; the first over the second is the time that a replica takes for a request. */
export interface Service {
  busyMs: number;
  ended: number;
}

export type Reason =
  /** The load needs more. */
  | "load"
  /** The load of the last seconds is far above what there is. */
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
