import type { ContainerReason } from "../../ports/containers.ts";

/**
 * What AWS says in words, read as the reasons that the control plane knows. The words are not part of any
 * contract of AWS, so each pattern is as wide as it can be without meaning something else.
 */
const QUOTA =
  /VcpuLimitExceeded|vCPU (capacity|limit)|MaxSpotInstanceCountExceeded|(service )?quota|limit (has been )?(exceeded|reached)|reached the limit/i;
const CAPACITY =
  /^RESOURCE:|CAPACITY:|MISCONFIGURATION:|InsufficientInstanceCapacity|insufficient (capacity|instances)|capacity is unavailable|do not have sufficient capacity|unable to place a task|no container instances|UnfulfillableCapacity/i;
const PULL = /CannotPull|CannotInspectContainer|ImageNotFound|pull image/i;
/** Pulls that may go well the next time: slow registries, broken connections, rate limits. */
const PULL_AGAIN =
  /time(d)? ?out|deadline exceeded|connection (reset|refused)|i\/o|EOF|toomanyrequests|429|5\d\d |context canceled|temporarily/i;
const PULL_NEVER =
  /not found|unauthorized|authorization|denied|forbidden|manifest unknown|no basic auth|invalid reference|no match for platform/i;
const OUT_OF_MEMORY = /OutOfMemory|out of memory|memory usage/i;
const GPU_OUT_OF_MEMORY =
  /CUDA (error: )?out of memory|OutOfMemoryError: CUDA|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory/i;
const HEAP_OUT_OF_MEMORY = /heap out of memory/i;
const PREEMPTED = /Host EC2|\bspot\b|instance .*(terminat|interrupt|reclaim|lost)|agent (was )?disconnected/i;
/** Memory, link and bus errors by their numbers; others, such as 13 and 31, are mistakes of programs. */
const BROKEN_GPU = /\bXid\b.*\b(48|63|64|74|79|94|95|119|120),|fallen off the bus|uncorrectable ECC/i;

const OVER_TIME = /duration exceeded timeout/i;

const SIGNAL = 128;
const SIGKILL_CODE = SIGNAL + 9;
const SIGTERM_CODE = SIGNAL + 15;

/** The words that we leave where something of ours is stopped; they come back as its reason. */
const OURS = "spotter: ";
export const STOPPED = {
  asked: `${OURS}asked to stop`,
  lifetime: `${OURS}lived as long as it may`,
  double: `${OURS}a double`,
  orphan: `${OURS}nobody knows it`,
  spot: `${OURS}spot instance is taken back`,
} as const;

/** How a container ended, as both services tell it. */
interface Ending {
  exitCode: number | null;
  /** What the service says, widest first: of the task or job, then of its container. */
  words: string[];
  /** Ended by a call of somebody, not by itself. */
  isStopped: boolean;
  /** The service says that its instance was taken back. */
  isPreempted?: boolean;
  /** It never ran: everything the words say is about its start. */
  isFailedStart: boolean;
  logTail: readonly string[];
}

export function exitReason(ending: Ending): ContainerReason | "done" {
  const { exitCode, isStopped, isPreempted = false, isFailedStart, logTail } = ending;
  const words = ending.words.join("\n");
  const log = logTail.join("\n");
  if (words.includes(STOPPED.spot) || isPreempted) return "preempted";
  // `attemptDurationSeconds`: a job that hung, as far as anybody knows.
  if (OVER_TIME.test(words) || words.includes(STOPPED.lifetime)) return "error";
  if (words.includes(OURS) || isStopped) return "user";
  if (OUT_OF_MEMORY.test(words)) return "oom";
  // Before anything that the name of an image might look like.
  if (PULL.test(words)) return PULL_AGAIN.test(words) && !PULL_NEVER.test(words) ? "error" : "image";
  if (PREEMPTED.test(words)) return "preempted";
  if (isFailedStart || exitCode === null) return notStartedReason(words) ?? "error";
  if (exitCode === 0) return "done";
  if (GPU_OUT_OF_MEMORY.test(log) || HEAP_OUT_OF_MEMORY.test(log)) return "oom";
  // Nobody here asked for it, so its machine went down in good order.
  if (exitCode === SIGTERM_CODE) return "preempted";
  return "error";
}

/** Why something waits for its machine, or was refused one; undefined: nothing known. */
export function notStartedReason(words: string): "quota" | "capacity" | undefined {
  if (QUOTA.test(words)) return "quota";
  return CAPACITY.test(words) ? "capacity" : undefined;
}

/** The last lines tell of a GPU that will fail whoever comes next, too. */
export function tellsOfBrokenGpu(logTail: readonly string[]): boolean {
  return BROKEN_GPU.test(logTail.join("\n"));
}

/** What people are told besides the reason. */
export function detailOf(words: string[], exitCode: number | null): string | undefined {
  const said = words.filter((each) => each !== STOPPED.asked).map((each) => each.replace(OURS, ""));
  if (exitCode === SIGKILL_CODE) said.push("killed by force");
  return said.filter((each) => each !== "").join("; ") || undefined;
}
