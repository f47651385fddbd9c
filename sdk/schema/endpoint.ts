import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, recordName, timestampMs } from "./common.ts";
import { spend } from "./cost.ts";
import { failure } from "./errors.ts";
import { hardware } from "./hardware.ts";
import { checkpointId, modelRef } from "./model.ts";
import { scalingSettings } from "./scaling.ts";

export const ENDPOINT_STATES = ["creating", "ready", "updating", "stopping", "stopped", "failed"] as const;
export const endpointState = z.enum(ENDPOINT_STATES);
export type EndpointState = z.infer<typeof endpointState>;

export const REPLICA_STATES = ["waiting", "starting", "loading", "ready", "draining", "gone"] as const;
export const replicaState = z.enum(REPLICA_STATES);
export type ReplicaState = z.infer<typeof replicaState>;

/** What `Endpoint.launch` sends. Identity is model + checkpoint + engine; the rest changes in place. */
export const launchEndpoint = z.strictObject({
  model: modelRef,
  checkpoint: z.optional(checkpointId),
  /** Default: derived from the identity, so the same launch finds the same endpoint. */
  name: z.optional(recordName),
  /** Chat without a key. */
  public: z._default(z.boolean(), false),
  /** Replace an endpoint of this name that has another identity, or restart the same one. */
  recreate: z._default(z.boolean(), false),
  engine: z._default(z.enum(["onnx", "vllm"]), "onnx"),
  /** Of engine vllm: its own settings by its own names, part of the identity; sdk/schema/engines/vllm-settings.ts. */
  vllm: z.optional(z.record(z.string(), z.unknown())),
  /** What each replica runs on where there is a choice; part of the identity. Absent: processors. */
  hardware: z.optional(hardware),
  /** What is given changes an endpoint that exists; what is absent stays as it is there. */
  scaling: z.optional(scalingSettings),
  /** It is stopped this long after its last launch, however busy it is. Absent: never. */
  maxLifetimeMs: z.optional(positiveInt),
  /**
   * For something that needs a model for a while, as a test does: where nobody has launched it, it sleeps a minute
   * after its last request, until somebody launches it without this.
   */
  implicit: z.optional(z.literal(true)),
});
export type LaunchEndpoint = z.infer<typeof launchEndpoint>;
export type LaunchEndpointInput = z.input<typeof launchEndpoint>;

export const updateEndpoint = z.strictObject({
  public: z.optional(z.boolean()),
  /** Only what is given changes. */
  scaling: z.optional(scalingSettings),
});
export type UpdateEndpoint = z.infer<typeof updateEndpoint>;

export const replica = z.object({
  jobId: z.string(),
  state: replicaState,
  /** Why it waits, as its platform says: `capacity` or `quota`. */
  waitingFor: z.optional(z.string()),
  address: z.optional(z.string()),
  createdAtMs: timestampMs,
  readyAtMs: z.optional(timestampMs),
  heartbeatAtMs: z.optional(timestampMs),
});
export type Replica = z.infer<typeof replica>;

export const endpoint = z.object({
  v: z.literal(1),
  name: z.string(),
  model: modelRef,
  checkpoint: z.optional(checkpointId),
  engine: z.enum(["onnx", "vllm"]),
  vllm: z.optional(z.record(z.string(), z.unknown())),
  hardware: z.optional(hardware),
  public: z.boolean(),
  /** Launched for somebody who needed it for a while: by a chat with its checkpoint, by a test or an eval. */
  implicit: z.optional(z.boolean()),
  state: endpointState,
  /** Counts identities this name has had; replicas of older ones are drained. */
  revision: nonNegativeInt,
  /** Replicas it should have now: from `min` to `max`, after its load. A ready endpoint with 0 sleeps. */
  desired: nonNegativeInt,
  /** What was set; see `scalingOf` for the rest. */
  scaling: z.optional(scalingSettings),
  replicas: z.array(replica),
  /** Containers that ended on their own since the last ready one; past a limit the endpoint fails. */
  startFailures: nonNegativeInt,
  failure: z.optional(failure),
  /** When it will be stopped, whatever it does then. */
  expiresAtMs: z.optional(timestampMs),
  /** What one should know about how it runs, in words. */
  notes: z.optional(z.array(z.string())),
  /** What all its replicas have cost until this was read. Left out of lists. */
  spend: z.optional(spend),
  createdAtMs: timestampMs,
  readyAtMs: z.optional(timestampMs),
  /** OpenAI base URL (`.../v1`). */
  url: z.string(),
});
export type Endpoint = z.infer<typeof endpoint>;
