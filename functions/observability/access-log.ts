import type { Log } from "../ports/clock.ts";
import type { RequestRecord, RequestSink } from "./observer.ts";

/** One line a request: the gateway's at level "info", all others, such as heartbeats, at "debug". */
export function accessLog(log: Log): RequestSink {
  return {
    ended(record) {
      const level = record.route.startsWith("/v1/") ? "info" : "debug";
      log[level]("request", accessLine(record));
    },
  };
}

/**
 * The fields of a request's one line in the log. What was asked and answered is never among them, nor a key:
 * only the key's id.
 */
function accessLine(record: RequestRecord): Record<string, unknown> {
  const { requestId, method, route, endpoint, replica, keyId, status, code, coldStart, tokens } = record;
  const { startedAtMs, queuedAtMs, admittedAtMs, firstByteAtMs, endedAtMs } = record;
  return {
    requestId,
    method,
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
