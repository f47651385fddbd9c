/** What a policy is told each second. */
export interface Observation {
  /** By the wall clock, which a scenario may make jump. */
  nowMs: number;
  /** By a clock that never jumps, for those who have one. */
  monotonicMs: number;
  /** What it decided last. */
  desired: number;
  ready: number;
  starting: number;
  /** Undefined while nobody can tell. */
  load: ObservedLoad | undefined;
}

export interface ObservedLoad {
  inFlight: number;
  queued: number;
  accepted: number;
  /** By the wall clock as it was then. */
  lastAcceptedAtMs: number | undefined;
  idleS: number;
  demandMs: number;
  busyMs: number;
}

export interface PolicySettings {
  min: number;
  max: number;
  target: number;
  idleTimeoutS: number;
  scaleDownS: number;
}

export interface Policy {
  /** Replicas it wants from now on. */
  step(observation: Observation): number;
}

/** A new policy, without memory: at the start, and again when its controller restarts. */
export type NewPolicy = (settings: PolicySettings) => Policy;
