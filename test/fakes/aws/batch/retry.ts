import type { RetryStrategy } from "@aws-sdk/client-batch";

export interface AttemptEnd {
  exitCode: number | undefined;
  /** The container's reason. */
  reason: string | undefined;
  statusReason: string;
}

/** Whether Batch runs another attempt. Rules are tried in order; when none matches, it retries. */
export function retries(
  { attempts = 1, evaluateOnExit = [] }: RetryStrategy,
  made: number,
  end: AttemptEnd,
): boolean {
  if (made >= attempts) return false;
  for (const { action, onExitCode, onReason, onStatusReason } of evaluateOnExit) {
    const matches =
      glob(onExitCode, end.exitCode === undefined ? undefined : String(end.exitCode)) &&
      glob(onReason, end.reason) &&
      glob(onStatusReason, end.statusReason);
    if (matches) return action?.toUpperCase() === "RETRY";
  }
  return true;
}

/** Only a trailing asterisk is a wildcard; a pattern that is absent matches everything. */
function glob(pattern: string | undefined, value: string | undefined): boolean {
  if (pattern === undefined) return true;
  if (!pattern.endsWith("*")) return pattern === value;
  return (value ?? "").startsWith(pattern.slice(0, -1));
}
