import type { ContainerEnd } from "../local-containers/container.ts";
import type { ExitReason } from "../local-containers/record.ts";

/**
 * Why a container in Docker ended. Unlike with a process, a kill is no sign of want of memory: Docker itself tells
 * which is which.
 */
export function endReason({ exitCode, isOutOfMemory, failure }: ContainerEnd, asked: boolean): ExitReason {
  if (asked) return "user";
  if (failure !== undefined) return failure.code === "image_unavailable" ? "image" : "error";
  if (isOutOfMemory === true && exitCode !== 0) return "oom";
  return exitCode === 0 ? "done" : "error";
}
