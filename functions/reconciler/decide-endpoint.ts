import type { ReplicaState } from "../../sdk/schema/endpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { hasOutlived } from "./limits.ts";
import { roomLoss } from "./platform-failure.ts";
import { backoffMs, isWorthRetrying, lossOf, wasPreempted } from "./liveness.ts";
import type { Action, EndpointView, JobView, Policy, ReplicaView } from "./views.ts";

const STOP_GRACE_MS = 10_000;
/** More are added with the next look, which follows at once. */
const MAX_ADDED_AT_ONCE = 20;

/** What an endpoint needs next: as many replicas of the current revision as it should have, all others down. */
export function decideEndpoint(endpoint: EndpointView, now: number, policy: Policy): Action[] {
  if (isOver(endpoint, now)) return [{ type: "expire-endpoint", endpoint: endpoint.name }];
  const wanted = endpoint.state !== "failed" && endpoint.desired > 0;
  const aged = endpoint.replicas.filter((replica) => wanted && isAged(endpoint, replica, now, policy));
  const current = endpoint.replicas.filter(
    (replica) => wanted && replica.revision === endpoint.revision && !aged.includes(replica),
  );
  const others = endpoint.replicas.filter((replica) => !current.includes(replica));
  const up = current.filter((replica) => replica.state !== "draining" && replica.state !== "gone");
  const surplus = victims(up, up.length - endpoint.desired);
  const actions = current.flatMap((replica) =>
    surplus.includes(replica)
      ? retire(endpoint, replica, now, policy)
      : decideReplica(endpoint, replica, now, policy),
  );
  const isServed = current.some((replica) => replica.state === "ready");
  // An older revision serves until the new one does.
  for (const replica of others.filter((each) => !aged.includes(each)))
    if (!wanted || isServed || replica.state !== "ready")
      actions.push(...retire(endpoint, replica, now, policy));
  actions.push(...replaceAged(endpoint, aged, now, policy));
  if (!wanted && endpoint.replicas.length === 0 && endpoint.state === "stopping")
    actions.push({ type: "endpoint-stopped", endpoint: endpoint.name });
  if (wanted) actions.push(...additions(endpoint, up, now));
  return actions;
}

/** Its longest life is over, and it is not ending already. */
function isOver({ expiresAtMs, state }: EndpointView, now: number): boolean {
  const isUp = state === "creating" || state === "ready" || state === "updating";
  return isUp && expiresAtMs !== undefined && now >= expiresAtMs;
}

/** Its home will end it soon, before the endpoint itself is to end: another one has to be ready by then. */
function isAged(
  endpoint: EndpointView,
  { job, revision, state }: ReplicaView,
  now: number,
  policy: Policy,
): boolean {
  if (revision !== endpoint.revision) return false;
  // One that does not serve yet may still get there before it is taken back, if it is at all.
  if (job.isLeaving === true && (state === "ready" || state === "draining")) return true;
  const { startedAtMs = now, maxLifetimeMs = 0 } = job;
  if ((endpoint.expiresAtMs ?? Number.POSITIVE_INFINITY) <= startedAtMs + maxLifetimeMs) return false;
  return hasOutlived(job, now, Math.min(policy.startMs, maxLifetimeMs / 10));
}

/** They go as others come, so that there are never fewer that serve. */
function replaceAged(endpoint: EndpointView, aged: ReplicaView[], now: number, policy: Policy): Action[] {
  const ready = endpoint.replicas.filter((replica) => serves(endpoint, replica));
  const spare = Math.max(0, ready.length - endpoint.desired);
  const serving = aged.filter((replica) => replica.state === "ready");
  const kept = serving.slice(Math.min(spare, serving.length));
  return aged.flatMap((replica) => (kept.includes(replica) ? [] : retire(endpoint, replica, now, policy)));
}

/** While starts fail, one at a time is tried: a hundred would fail for the same reason. */
function additions(endpoint: EndpointView, up: ReplicaView[], now: number): Action[] {
  if ((endpoint.retryAtMs ?? 0) > now) return [];
  const isTrying = endpoint.startFailures > 0 && up.some((replica) => replica.state !== "ready");
  const missing = isTrying ? 0 : endpoint.desired - up.length;
  const count = Math.max(0, Math.min(missing, endpoint.startFailures > 0 ? 1 : MAX_ADDED_AT_ONCE));
  return Array.from({ length: count }, () => ({ type: "add-replica", endpoint: endpoint.name }));
}

/** Those that go when there are too many: not ready yet and newest first, then idle and oldest first, then the least loaded. */
function victims(up: ReplicaView[], count: number): ReplicaView[] {
  if (count <= 0) return [];
  const starting = up.filter((replica) => replica.state !== "ready").reverse();
  const ready = up.filter((replica) => replica.state === "ready").sort((a, b) => a.inFlight - b.inFlight);
  return [...starting, ...ready].slice(0, count);
}

function decideReplica(endpoint: EndpointView, replica: ReplicaView, now: number, policy: Policy): Action[] {
  const { job } = replica;
  if (replica.state === "draining" || replica.state === "gone") return retire(endpoint, replica, now, policy);
  const noRoom = job.exit ? undefined : roomLoss(job, now, policy);
  if (job.container.state === "unknown" && job.startedAtMs === undefined && !noRoom)
    return [{ type: "launch-job", jobId: job.id }];
  // Told to end from outside, as when the daemon goes down, or taken back by its platform: no fault of its own,
  // the next one may come at once.
  if (job.exit?.outcome === "cancelled" || wasPreempted(job))
    return [{ type: "drop-replica", endpoint: endpoint.name, jobId: job.id }];
  const loss =
    job.exit?.failure ??
    noRoom ??
    lossOf(job, now, policy) ??
    endedLoss(job) ??
    lateLoss(replica, now, policy);
  if (loss) {
    const failures = endpoint.startFailures + 1;
    const target = { endpoint: endpoint.name, jobId: job.id };
    // Others that serve go on, whatever is wrong with the one that should have helped them.
    const isServed = endpoint.replicas.some((each) => each !== replica && serves(endpoint, each));
    // What the user got wrong stays wrong: trying again would only hide the reason.
    if (!isServed && (failures >= policy.maxStartFailures || !isWorthRetrying(loss.code)))
      return [{ type: "fail-endpoint", ...target, failure: loss }];
    return [{ type: "replica-lost", ...target, failure: loss, retryAtMs: now + backoffMs(failures) }];
  }
  return progress(endpoint, replica);
}

function serves(endpoint: EndpointView, { state, revision }: ReplicaView): boolean {
  return state === "ready" && revision === endpoint.revision;
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
  const waitingFor = job.container.state === "waiting" ? job.container.reason : undefined;
  if (state !== replica.state || waitingFor !== replica.waitingFor)
    actions.push({ type: "replica-state", endpoint: endpoint.name, jobId: job.id, state, waitingFor });
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

/**
 * Takes a replica out: out of the routes first, then its container, then the record. Its container is told to
 * stop when nothing is in flight on it any more, unless the whole endpoint is to stop.
 */
function retire(endpoint: EndpointView, replica: ReplicaView, now: number, policy: Policy): Action[] {
  const { job } = replica;
  const target = { endpoint: endpoint.name, jobId: job.id };
  const { state } = job.container;
  if (state === "exited" || state === "unknown") return [{ type: "drop-replica", ...target }];
  const stop: Action = { type: "stop-replica", ...target, graceMs: STOP_GRACE_MS };
  const isEnding = endpoint.state === "stopping" || endpoint.state === "failed";
  if (replica.state !== "draining") {
    const drain: Action = { type: "drain-replica", ...target };
    // A request may have come until the routes know: the next look tells.
    return isEnding || replica.state !== "ready" ? [drain, stop] : [drain];
  }
  const mayFinish = replica.inFlight > 0 && lossOf(job, now, policy) === undefined;
  return mayFinish && !isEnding ? [] : [stop];
}
