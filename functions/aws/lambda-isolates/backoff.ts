import { setTimeout as sleep } from "node:timers/promises";
import { awsErrorName, awsStatus } from "../aws-error.ts";

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Not now, but perhaps in a moment: concurrency, network interfaces, a function that is being made. */
const LATER: ReadonlySet<string> = new Set([
  "TooManyRequestsException",
  "ThrottlingException",
  "EC2ThrottledException",
  "ENILimitReachedException",
  "ENINotReadyException",
  "SubnetIPAddressLimitReachedException",
  "ResourceConflictException",
  "ResourceNotReadyException",
  "ServiceException",
]);
const BROKEN: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNREFUSED",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

/** Repeats what AWS refuses for the moment until `patienceMs` are over; then its last refusal is thrown. */
export async function patiently<T>(
  work: () => Promise<T>,
  options: {
    patienceMs: number;
    now: () => number;
    signal?: AbortSignal;
    isLater?: (error: unknown) => boolean;
  },
): Promise<T> {
  const { patienceMs, now, signal, isLater = isForNow } = options;
  const endMs = now() + patienceMs;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_MS)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      // Half of it at random: those that were refused together must not come back together.
      const waitMs = pauseMs / 2 + (Math.random() * pauseMs) / 2;
      if (!isLater(error) || now() + waitMs > endMs) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

export function isForNow(error: unknown): boolean {
  if (LATER.has(awsErrorName(error)) || awsStatus(error) === 429 || (awsStatus(error) ?? 0) >= 500)
    return true;
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && BROKEN.has(error.code)
  );
}
