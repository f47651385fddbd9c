import { ERROR_CODES, type ErrorCode } from "../../sdk/schema/error-codes.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import type { ContainerReason } from "../ports/containers.ts";
import { platformFailure } from "./platform-failure.ts";
import type { JobView, Policy } from "./views.ts";

const BACKOFF_BASE_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;

/** Failures that a fresh container may not meet again. Any other one would only repeat itself. */
const WORTH_RETRYING: ReadonlySet<string> = new Set<ErrorCode>([
  "container_failed",
  "container_lost",
  "container_out_of_memory",
  "daemon_unreachable",
  "isolate_crashed",
]);

export function isWorthRetrying(code: string): boolean {
  return WORTH_RETRYING.has(code) || (code in ERROR_CODES && ERROR_CODES[code as ErrorCode] === "capacity");
}

/** Doubles from a second to a minute. `count` begins at 1. */
export function backoffMs(count: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (count - 1));
}

/**
 * Why a job without a last word is over, or undefined while it may still live. The reason comes from the
 * platform where it has one; the clock decides only about containers that are said to run.
 */
export function lossOf(job: JobView, now: number, policy: Policy): Failure | undefined {
  const { container } = job;
  switch (container.state) {
    case "waiting":
      return undefined;
    case "exited":
      return (
        platformFailure(container) ?? exitFailure(container.reason, container.exitCode, container.logTail)
      );
    case "unknown":
      // Known to have run and gone without a trace: the machine or the platform took it.
      return job.startedAtMs === undefined ? undefined : lost("Its container is gone.");
    case "starting": {
      // It cannot speak yet: getting a large image takes minutes.
      const sinceMs = Math.max(job.startedAtMs ?? now, policy.leasesFromMs);
      return now - sinceMs <= policy.startMs
        ? undefined
        : lost(`Its container was not up after ${Math.round((now - sinceMs) / 60_000)} minutes.`);
    }
    case "running": {
      if (job.startedAtMs === undefined) return undefined;
      const upMs = Math.max(job.startedAtMs, Math.min(container.sinceMs ?? 0, now));
      const lastSignMs = Math.max(job.heartbeatAtMs ?? upMs, policy.leasesFromMs);
      const silentMs = now - lastSignMs;
      return silentMs <= policy.leaseMs
        ? undefined
        : lost(`Its container was silent for ${Math.round(silentMs / 1000)} s.`);
    }
  }
}

function lost(message: string): Failure {
  return {
    code: "container_lost",
    message,
    hint: "Did the machine sleep, or run out of memory? The work goes on from its last checkpoint.",
  };
}

/** The platform took the container back, as it may with a spot one. */
export const PREEMPTED: Failure = {
  code: "preempted",
  message: "The platform took its spot container back.",
  hint: "The work goes on from its last checkpoint.",
};

export function wasPreempted({ container }: JobView): boolean {
  return container.state === "exited" && container.reason === "preempted";
}

function exitFailure(reason: ContainerReason | "done", exitCode: number | null, logTail: string[]): Failure {
  if (reason === "oom") {
    const hint = "Use smaller batches or a smaller model, or give the machine more memory.";
    return { code: "container_out_of_memory", message: "The container ran out of memory.", hint, logTail };
  }
  if (reason === "preempted") return { ...PREEMPTED, logTail };
  const how = exitCode === null ? "was killed" : `ended with exit code ${exitCode}`;
  const code: ErrorCode = reason === "user" ? "invalid_input" : "container_failed";
  return {
    code,
    message: `The container ${how} before its work was done.`,
    hint: "See its last lines.",
    logTail,
  };
}
