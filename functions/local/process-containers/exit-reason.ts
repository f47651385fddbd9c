import type { ExitReason } from "../local-containers/record.ts";

const SIGKILL_CODE = 128 + 9;
const SIGABRT_CODE = 128 + 6;

export interface ContainerEnd {
  /** Null if a signal ended the container's shell, or nobody saw the end. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Whether it ended because it was told to. */
  asked: boolean;
  logTail: readonly string[];
}

/** Why a container ended. A kill that nobody asked for is the system running out of memory. */
export function exitReason({ exitCode, signal, asked, logTail }: ContainerEnd): ExitReason {
  if (asked) return "user";
  if (exitCode === 0) return "done";
  if (exitCode === SIGKILL_CODE || signal === "SIGKILL") return "oom";
  // V8 ends the process this way when its own heap is full.
  if (exitCode === SIGABRT_CODE && logTail.some((line) => line.includes("heap out of memory"))) return "oom";
  return "error";
}
