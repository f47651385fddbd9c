import type { Failure } from "../../sdk/schema/errors.ts";
import type { ContainerReason, ContainerState } from "../ports/containers.ts";
import type { JobView, Policy } from "./views.ts";

/** Time for room to be found. Groups of GPUs get their instances in minutes, or not today. */
const ROOM_MS = 15 * 60_000;
/** The same where another GPU would do. */
const ROOM_ON_ONE_GPU_MS = 10 * 60_000;

const HINTS = {
  no_capacity: "It is tried again. Other hardware, or none that is spot, may be had sooner.",
  cloud_quota_exceeded: "Ask AWS for a higher quota (Service Quotas, EC2), or take other hardware.",
  image_unavailable: "Correct the image of the stack's configuration, or the login of its registry.",
  memory_exceeded: "Use smaller batches or a smaller model, or hardware with more memory.",
  user_cancelled: "Launch it again if that was a mistake.",
} as const;

/**
 * Why a container ended, where its platform is sure of it; another one would end in the same way, except for want
 * of room. Undefined where only the exit code and the log are known, as on one machine.
 */
export function platformFailure(
  container: Extract<ContainerState, { state: "exited" }>,
): Failure | undefined {
  const { reason, detail, logTail } = container;
  if (container.failure !== undefined) return { ...container.failure, logTail };
  if (reason === "capacity" || reason === "quota") return { ...noRoom(reason, detail), logTail };
  if (detail === undefined) return undefined;
  if (reason === "image")
    return failure("image_unavailable", `Its image could not be pulled: ${detail}`, logTail);
  if (reason === "oom")
    return failure("memory_exceeded", `The container ran out of memory: ${detail}`, logTail);
  if (reason === "user") return failure("user_cancelled", `Its container was stopped: ${detail}`, logTail);
  return undefined;
}

function failure(code: keyof typeof HINTS, message: string, logTail: string[]): Failure {
  return { code, message, hint: HINTS[code], logTail };
}

/** Nobody waits for ever for a replica; a run may, in its queue, unless another GPU would do. */
export function roomLoss(job: JobView, now: number, policy: Policy): Failure | undefined {
  const { container, createdAtMs, startedAtMs } = job;
  const isPlaced = container.state !== "waiting" && container.state !== "unknown";
  if (isPlaced || startedAtMs !== undefined || createdAtMs === undefined) return undefined;
  const waitedMs = now - Math.max(createdAtMs, policy.leasesFromMs);
  if (waitedMs <= (job.hasFallbacks ? ROOM_ON_ONE_GPU_MS : ROOM_MS)) return undefined;
  const { reason = "capacity", detail } = container.state === "waiting" ? container : {};
  return noRoom(
    reason,
    [`waited ${Math.round(waitedMs / 60_000)} minutes`, detail].filter(Boolean).join("; "),
  );
}

/** Whether other hardware may help. */
export function isWantOfRoom({ code }: Pick<Failure, "code">): boolean {
  return code === "no_capacity" || code === "cloud_quota_exceeded";
}

function noRoom(reason: ContainerReason, detail = "the platform does not say more"): Failure {
  const code = reason === "quota" ? "cloud_quota_exceeded" : "no_capacity";
  const what = code === "no_capacity" ? "No instance is to be had" : "The quota of this account is reached";
  return { code, message: `${what}: ${detail}.`, hint: HINTS[code] };
}
