import type { Charge } from "../../sdk/schema/cost.ts";
import type { EndpointState, ReplicaState } from "../../sdk/schema/endpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import type { ContainerKind, ContainerState } from "../ports/containers.ts";
import type { Outcome } from "./outcome.ts";

/** A container's job as the reconciler sees it. */
export interface JobView {
  id: string;
  attempt: number;
  /** When its container was asked for. */
  createdAtMs?: number;
  startedAtMs?: number;
  heartbeatAtMs?: number;
  address?: string;
  exit?: { outcome: Outcome; failure?: Failure };
  container: ContainerState;
  /** The platform may take its container back. */
  spot?: boolean;
  /** Its home ends it after this long. */
  maxLifetimeMs?: number;
  /** Its platform has said that it may soon take the container back. */
  isLeaving?: boolean;
  /** Other GPUs would do as well. */
  hasFallbacks?: boolean;
}

/** What ends a run that would go on. */
export type Limit = "time" | "budget";

/** A run, an eval or a conversion of weights that has not ended. */
export interface WorkView {
  kind: WorkKind;
  id: string;
  stage: "queued" | "active" | "paused";
  /** Its record says already that the container works. */
  isWorking: boolean;
  /** Attempts begun so far. */
  attempt: number;
  /** Attempts that were lost or failed in a way worth another try. */
  losses: number;
  /** Attempts whose spot container was taken back since it last got to a new checkpoint. */
  preemptions?: number;
  waitingFor?: string;
  retryAtMs?: number;
  cancelAtMs?: number;
  pauseAtMs?: number;
  phase?: string;
  /** When it last got anywhere, how long it may take until the next time, and whether people know. */
  progressAtMs?: number;
  stallMs?: number;
  isStalled?: boolean;
  /** The time limit that the run was given, and whether it was told so. */
  durationMs?: number;
  expired: boolean;
  /** What its containers cost, what they may cost together, and whether it was told that this is over. */
  charges?: Charge[];
  /** Of the endpoint that teaches it and nobody else. */
  teacherCharges?: Charge[];
  maxCostUsd?: number;
  overBudget?: boolean;
  /** When its first attempt began to run. */
  workingSinceMs?: number;
  /**
   * Of an eval: the run has an earlier checkpoint evaluated by the same one first. Of a conversion: another run has
   * the same made.
   */
  waitsForEarlier?: boolean;
  /** Of a run before its first attempt: the conversion that it needs. Absent: none, or it is made. */
  conversion?: { state: "missing" | "pending" } | { state: "failed"; failure: Failure };
  /** Of a conversion: its run does not wait for it any more. */
  isUnwanted?: boolean;
  /** Evals and conversions of its checkpoints that have not ended: a run ends after them. */
  pending?: number;
  /** Whether some of that are its checkpoints, which get their weights. */
  isConverting?: boolean;
  /** The job of the current attempt; absent before the first. */
  job?: JobView;
}

export interface ReplicaView {
  state: ReplicaState;
  waitingFor?: string;
  revision: number;
  /** Requests that it works on. */
  inFlight: number;
  job: JobView;
}

/** An endpoint that has, or should have, replicas. */
export interface EndpointView {
  name: string;
  state: EndpointState;
  desired: number;
  revision: number;
  startFailures: number;
  retryAtMs?: number;
  /** It is stopped then, whatever it does. */
  expiresAtMs?: number;
  replicas: ReplicaView[];
}

export interface World {
  works: WorkView[];
  endpoints: EndpointView[];
  /** Listed before the records were read: whatever is in here had its record then. */
  containers: { jobId: string; kind: ContainerKind }[];
}

export interface Policy {
  leaseMs: number;
  maxAttempts: number;
  /** How often its container may be taken back before a run gives up, without a new checkpoint in between. */
  maxPreemptions: number;
  maxStartFailures: number;
  /** Time a replica has from its start until it is ready. */
  startMs: number;
  /** Time a cancelled container has to save and exit. */
  cancelGraceMs: number;
  /** Leases count from here at the earliest: this process was away before. */
  leasesFromMs: number;
}

export type Action =
  | { type: "begin-attempt"; work: WorkKey }
  | { type: "begin-conversion"; work: WorkKey }
  | { type: "launch-job"; jobId: string }
  | { type: "note-started"; jobId: string; work?: WorkKey }
  | { type: "note-working"; work: WorkKey }
  | { type: "note-waiting"; work: WorkKey; waitingFor: string }
  | { type: "expire"; work: WorkKey; limit: Limit; message: string }
  | { type: "note-stalled"; work: WorkKey; sinceMs: number; message: string }
  /** Its container is gone, and the work goes on elsewhere. */
  | { type: "note-exited"; work: WorkKey }
  | { type: "pause"; work: WorkKey; jobId: string }
  | { type: "requeue"; work: WorkKey; jobId: string; failure: Failure; retryAtMs: number; counts: Counts }
  | {
      type: "finish";
      work: WorkKey;
      outcome: Outcome;
      jobId?: string;
      failure?: Failure;
    }
  | { type: "add-replica"; endpoint: string }
  | {
      type: "replica-state";
      endpoint: string;
      jobId: string;
      state: ReplicaState;
      waitingFor?: string;
    }
  | { type: "probe-replica"; endpoint: string; jobId: string; address: string }
  | { type: "drain-replica"; endpoint: string; jobId: string }
  | { type: "stop-replica"; endpoint: string; jobId: string; graceMs: number }
  | { type: "drop-replica"; endpoint: string; jobId: string }
  | { type: "replica-lost"; endpoint: string; jobId: string; failure: Failure; retryAtMs: number }
  | { type: "fail-endpoint"; endpoint: string; jobId: string; failure: Failure }
  | { type: "expire-endpoint"; endpoint: string }
  | { type: "endpoint-stopped"; endpoint: string }
  | { type: "stop-container"; jobId: string; graceMs: number };

/** What the end of an attempt counts as, against the limit of its sort. */
export type Counts = "loss" | "preemption" | "no-room" | "nothing";

export type WorkKind = "train" | "eval" | "convert";

export interface WorkKey {
  kind: WorkKind;
  id: string;
  attempt: number;
}
