import type { ReplicaState } from "../../sdk/schema/endpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { backoffMs, isWorthRetrying, lossOf } from "./liveness.ts";
import type { Action, EndpointView, JobView, Policy, ReplicaView } from "./views.ts";

const DRAIN_GRACE_MS = 10_000;

/** What an endpoint needs next: replicas of the current revision up, all others down. */
export function decideEndpoint(endpoint: EndpointView, now: number, policy: Policy): Action[] {
  const wanted = endpoint.state !== "failed" && endpoint.desired > 0;
  const current = endpoint.replicas.filter((replica) => wanted && replica.revision === endpoint.revision);
  const others = endpoint.replicas.filter((replica) => !current.includes(replica));
  const actions = current.flatMap((replica) => decideReplica(endpoint, replica, now, policy));
  const isServed = current.some((replica) => replica.state === "ready");
  // An older revision serves until the new one does.
  for (const replica of others)
    if (!wanted || isServed || replica.state !== "ready") actions.push(...retire(endpoint, replica));
  if (!wanted && endpoint.replicas.length === 0 && endpoint.state === "stopping")
    actions.push({ type: "endpoint-stopped", endpoint: endpoint.name });
  const up = current.filter((replica) => replica.state !== "draining" && replica.state !== "gone").length;
  if (wanted && up < endpoint.desired && (endpoint.retryAtMs ?? 0) <= now)
    actions.push({ type: "add-replica", endpoint: endpoint.name });
  return actions;
}

function decideReplica(endpoint: EndpointView, replica: ReplicaView, now: number, policy: Policy): Action[] {
  const { job } = replica;
  if (replica.state === "draining" || replica.state === "gone") return retire(endpoint, replica);
  if (job.container.state === "unknown" && job.startedAtMs === undefined)
    return [{ type: "launch-job", jobId: job.id }];
  // Told to end from outside, as when the daemon goes down: no fault of its own, the next one may come at once.
  if (job.exit?.outcome === "cancelled")
    return [{ type: "drop-replica", endpoint: endpoint.name, jobId: job.id }];
  const loss =
    job.exit?.failure ?? lossOf(job, now, policy) ?? endedLoss(job) ?? lateLoss(replica, now, policy);
  if (loss) {
    const failures = endpoint.startFailures + 1;
    const target = { endpoint: endpoint.name, jobId: job.id };
    // What the user got wrong stays wrong: trying again would only hide the reason.
    if (failures >= policy.maxStartFailures || !isWorthRetrying(loss.code))
      return [{ type: "fail-endpoint", ...target, failure: loss }];
    return [{ type: "replica-lost", ...target, failure: loss, retryAtMs: now + backoffMs(failures) }];
  }
  return progress(endpoint, replica);
}

function progress(endpoint: EndpointView, replica: ReplicaView): Action[] {
  const { job } = replica;
  const actions: Action[] = [];
  const runs = job.container.state === "starting" || job.container.state === "running";
  if (runs && job.startedAtMs === undefined) actions.push({ type: "note-started", jobId: job.id });
  if (replica.state === "ready") return actions;
  if (job.address !== undefined)
    return [
      ...actions,
      { type: "probe-replica", endpoint: endpoint.name, jobId: job.id, address: job.address },
    ];
  const state = stateOf(job);
  if (state !== replica.state)
    actions.push({ type: "replica-state", endpoint: endpoint.name, jobId: job.id, state });
  return actions;
}

function stateOf(job: JobView): ReplicaState {
  if (job.heartbeatAtMs !== undefined) return "loading";
  return job.container.state === "waiting" || job.container.state === "unknown" ? "waiting" : "starting";
}

function endedLoss(job: JobView): Failure | undefined {
  return job.exit && { code: "container_failed", message: "The replica ended by itself." };
}

/** One that beats and never gets ready hangs, and would keep everybody waiting. */
function lateLoss({ state, job }: ReplicaView, now: number, policy: Policy): Failure | undefined {
  if (state === "ready" || job.startedAtMs === undefined) return undefined;
  const sinceMs = Math.max(job.startedAtMs, policy.leasesFromMs);
  if (now - sinceMs <= policy.startMs) return undefined;
  return {
    code: "container_failed",
    message: `The replica was not ready ${Math.round(policy.startMs / 60_000)} minutes after its start.`,
    hint: "Its log tells how far it came. Is the model damaged, or too large for this machine?",
  };
}

/** Takes a replica out: out of the routes first, then its container, then the record. */
function retire(endpoint: EndpointView, replica: ReplicaView): Action[] {
  const target = { endpoint: endpoint.name, jobId: replica.job.id };
  const { state } = replica.job.container;
  if (state === "exited" || state === "unknown") return [{ type: "drop-replica", ...target }];
  const stop: Action = { type: "stop-container", jobId: replica.job.id, graceMs: DRAIN_GRACE_MS };
  return replica.state === "draining" ? [stop] : [{ type: "drain-replica", ...target }, stop];
}
