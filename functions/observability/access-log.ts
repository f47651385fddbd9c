import type { RequestRecord } from "./observer.ts";

/**
 * The fields of a request's one line in the log. What was asked and answered is never among them, nor a key:
 * only the key's id.
 */
export function accessLine(record: RequestRecord): Record<string, unknown> {
  const { requestId, route, endpoint, replica, keyId, status, code, coldStart, tokens } = record;
  const { startedAtMs, queuedAtMs, admittedAtMs, firstByteAtMs, endedAtMs } = record;
  return {
    requestId,
    route,
    endpoint,
    replica,
    keyId,
    status,
    code,
    ms: endedAtMs - startedAtMs,
    ttftMs: firstByteAtMs === undefined ? undefined : firstByteAtMs - startedAtMs,
    queueMs: queuedAtMs === undefined ? 0 : (admittedAtMs ?? endedAtMs) - queuedAtMs,
    coldStart,
    tokensIn: tokens?.input,
    tokensOut: tokens?.output,
    tokensCached: tokens?.cached,
  };
}
