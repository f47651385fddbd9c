import { foreign } from "../engines/engines.ts";
import type { Replica, ReplicaState } from "../../sdk/schema/endpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { hardwareChoice } from "../../sdk/schema/hardware.ts";
import type { Control } from "../control.ts";
import { lifetimeMs } from "../cost/lifetime.ts";
import { pricingOf } from "../cost/pricing.ts";
import { changeEndpoint, findEndpoint, type EndpointDocument } from "../endpoints/records.ts";
import { allowsChange } from "../records/state-table.ts";
import {
  ENDPOINT_TABLE,
  isServing,
  nextEndpointState,
  type EndpointChange,
} from "../endpoints/transitions.ts";
import { serveJobId } from "../jobs/records.ts";
import { nextReplicaState } from "../endpoints/replica-transitions.ts";
import { intendJob } from "./effects-job.ts";
import { isWantOfRoom } from "./platform-failure.ts";

export async function addReplica(control: Control, name: string): Promise<void> {
  const before = await findEndpoint(control, name);
  if (before === undefined) return;
  const number = before.launches + 1;
  const { revision, hardware: wanted, expiresAtMs, engine } = before.endpoint;
  const hardware = wanted && hardwareChoice(wanted, before.withoutRoom ?? 0);
  const price = pricingOf(control).priceOf(hardware);
  const maxLifetimeMs = lifetimeMs({
    longestMs: control.config.maxLifetimeMs,
    leftMs: expiresAtMs === undefined ? undefined : expiresAtMs - control.clock.now(),
    hourlyUsd: price.hourlyUsd,
  });
  const jobId = serveJobId(name, revision, number);
  await intendJob(control, {
    id: jobId,
    kind: "serve",
    owner: name,
    attempt: number,
    ...(hardware && { hardware }),
    ...foreign(engine),
    price,
    ...(maxLifetimeMs !== undefined && { maxLifetimeMs }),
  });
  await changeEndpoint(control, name, (current) => {
    if (current?.launches !== before.launches || current.endpoint.revision !== revision) return undefined;
    const replica: Replica = { jobId, state: "waiting", createdAtMs: control.clock.now() };
    const endpoint = { ...current.endpoint, replicas: [...current.endpoint.replicas, replica] };
    return { ...current, endpoint, launches: number, revisions: { ...current.revisions, [jobId]: revision } };
  });
}

export async function setReplicaState(
  control: Control,
  name: string,
  jobId: string,
  state: ReplicaState,
  waitingFor?: string,
): Promise<void> {
  await changeReplica(control, name, jobId, ({ waitingFor: _before, ...replica }) => ({
    ...replica,
    state: nextReplicaState(replica.state, state),
    ...(waitingFor !== undefined && { waitingFor }),
  }));
}

/** A replica that lists its models takes requests from here on. */
export async function probeReplica(
  control: Control,
  name: string,
  jobId: string,
  address: string,
): Promise<boolean> {
  const accessKey = await control.jobTokens.accessKey(jobId);
  if (accessKey === undefined || !(await control.probe(address, accessKey))) return false;
  const nowMs = control.clock.now();
  await changeEndpoint(control, name, (current) => {
    const replica = current?.endpoint.replicas.find((each) => each.jobId === jobId);
    if (!current || !replica || replica.state === "draining" || replica.state === "ready") return undefined;
    const { waitingFor: _waitingFor, ...rest } = replica;
    const ready = { ...rest, state: nextReplicaState(replica.state, "ready"), address, readyAtMs: nowMs };
    const { retryAtMs: _retryAtMs, ...document } = replaced(current, jobId, ready);
    const { failure: _failure, ...endpoint } = changed(document, "ready").endpoint;
    return {
      ...document,
      endpoint: { ...endpoint, startFailures: 0, readyAtMs: endpoint.readyAtMs ?? nowMs },
    };
  });
  return true;
}

/** A replica that is gone leaves the record. */
export async function dropReplica(control: Control, name: string, jobId: string): Promise<void> {
  await changeEndpoint(control, name, (current) => {
    const replica = current?.endpoint.replicas.find((each) => each.jobId === jobId);
    if (!current || !replica) return undefined;
    const document = without(current, jobId);
    return replica.state === "ready" ? afterLoss(document) : document;
  });
}

export async function replicaLost(
  control: Control,
  name: string,
  jobId: string,
  failure: Failure,
  retryAtMs: number,
): Promise<void> {
  control.log.warn("replica lost", { endpoint: name, jobId, code: failure.code, message: failure.message });
  await changeEndpoint(control, name, (current) => {
    if (!current?.endpoint.replicas.some((replica) => replica.jobId === jobId)) return undefined;
    const document = afterLoss(without(current, jobId));
    const startFailures = document.endpoint.startFailures + 1;
    // The next replica is tried on other hardware, where other hardware would do.
    const withoutRoom = (document.withoutRoom ?? 0) + (isWantOfRoom(failure) ? 1 : 0);
    const endpoint = { ...document.endpoint, startFailures, failure };
    return { ...document, retryAtMs, withoutRoom, endpoint };
  });
}

export async function failEndpoint(
  control: Control,
  name: string,
  jobId: string,
  failure: Failure,
): Promise<void> {
  await changeEndpoint(control, name, (current) => {
    if (!current?.endpoint.replicas.some((replica) => replica.jobId === jobId)) return undefined;
    const document = changed(without(current, jobId), "fail");
    const startFailures = document.endpoint.startFailures + 1;
    return { ...document, endpoint: { ...document.endpoint, startFailures, failure, desired: 0 } };
  });
}

/** Its longest life is over: the same as a stop, and it says why. */
export async function expireEndpoint(control: Control, name: string): Promise<void> {
  const now = control.clock.now();
  await changeEndpoint(control, name, (current) => {
    if (!current || !isServing(current.endpoint)) return undefined;
    if (current.endpoint.expiresAtMs === undefined || current.endpoint.expiresAtMs > now) return undefined;
    const notes = [...(current.endpoint.notes ?? []), LIFETIME_OVER];
    const document = changed(current, "stop");
    return { ...document, endpoint: { ...document.endpoint, desired: 0, notes } };
  });
}

const LIFETIME_OVER = "It was stopped because its maxLifetimeMs was over; launch it again to go on.";

export async function endpointStopped(control: Control, name: string): Promise<void> {
  await changeEndpoint(control, name, (current) =>
    current?.endpoint.state === "stopping" && current.endpoint.replicas.length === 0
      ? changed(current, "stopped")
      : undefined,
  );
}

async function changeReplica(
  control: Control,
  name: string,
  jobId: string,
  change: (replica: Replica) => Replica,
): Promise<void> {
  await changeEndpoint(control, name, (current) => {
    const replica = current?.endpoint.replicas.find((each) => each.jobId === jobId);
    return current && replica && replaced(current, jobId, change(replica));
  });
}

/** A replica's fate may concern an endpoint that was stopped or was ready all along: then its state stays. */
function changed(document: EndpointDocument, change: EndpointChange): EndpointDocument {
  const { endpoint } = document;
  if (!allowsChange(ENDPOINT_TABLE, endpoint.state, change)) return document;
  return { ...document, endpoint: { ...endpoint, state: nextEndpointState(endpoint.state, change) } };
}

/** Without any replica that serves it has to be waited for again. One that sleeps has lost nothing. */
function afterLoss(document: EndpointDocument): EndpointDocument {
  const { replicas, desired } = document.endpoint;
  const isServed = replicas.some((replica) => replica.state === "ready") || desired === 0;
  return isServed ? document : changed(document, "lost");
}

function replaced(document: EndpointDocument, jobId: string, replica: Replica): EndpointDocument {
  const replicas = document.endpoint.replicas.map((each) => (each.jobId === jobId ? replica : each));
  return { ...document, endpoint: { ...document.endpoint, replicas } };
}

function without(document: EndpointDocument, jobId: string): EndpointDocument {
  const { [jobId]: _revision, ...revisions } = document.revisions;
  const replicas = document.endpoint.replicas.filter((each) => each.jobId !== jobId);
  return { ...document, revisions, endpoint: { ...document.endpoint, replicas } };
}
