import { retryAfterMs, withRetries, type Attempt } from "../retry.ts";
import { offline, rateLimited, refused, unreachable, type HubTarget } from "./hub-errors.ts";

/** Time until the hub has begun its answer. */
const HEADERS_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 5;
const HOPELESS_ATTEMPTS = 3;

export interface HubConnection {
  /** Without a slash at the end. */
  endpoint: string;
  token: string | undefined;
  signal: AbortSignal | undefined;
  /** Upper bound of the first wait between tries. */
  retryDelayMs: number;
  /** HF_HUB_OFFLINE: nothing is asked. */
  isOffline: boolean;
}

/**
 * One GET with the patience a hub needs: 429 waits as long as Retry-After asks, server errors and broken
 * connections back off with jitter.
 *
 * @throws SpotterError `hub_unreachable`, `hub_rate_limited`, `hub_gated`, `dataset_not_found`, `model_not_found`
 */
export async function hubGet(
  hub: HubConnection,
  target: HubTarget,
  url: URL,
  headers: Record<string, string> = {},
): Promise<Response> {
  if (hub.isOffline) throw offline(target, url);
  const params = { maxAttempts: MAX_ATTEMPTS, delayMs: hub.retryDelayMs, signal: hub.signal };
  return withRetries((number) => tryOnce(hub, target, url, headers, number), params);
}

async function tryOnce(
  hub: HubConnection,
  target: HubTarget,
  url: URL,
  headers: Record<string, string>,
  number: number,
): Promise<Attempt<Response>> {
  let response: Response;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("no answer in time")), HEADERS_TIMEOUT_MS);
  const signals = hub.signal === undefined ? [timeout.signal] : [timeout.signal, hub.signal];
  try {
    response = await fetch(url, {
      headers: { ...authorization(hub, url), "accept-encoding": "identity", ...headers },
      signal: AbortSignal.any(signals),
    });
  } catch (error) {
    hub.signal?.throwIfAborted();
    // Nobody listens there, or there is no such host: a second of patience is enough.
    const isHopeless = /ECONNREFUSED|ENOTFOUND/.test(codeOf(error));
    return {
      error: unreachable(target, url, number, error),
      retry: !isHopeless || number < HOPELESS_ATTEMPTS,
    };
  } finally {
    clearTimeout(timer);
  }
  if (response.ok || response.status === 416) return { value: response };
  await response.body?.cancel();
  // A file may be refused by the storage that the hub redirects to: that host is the one to name.
  const asked = response.url === "" ? url : new URL(response.url);
  if (response.status === 429) {
    const waitMs = retryAfterMs(response.headers, Date.now()) ?? resetMs(response.headers);
    return {
      error: rateLimited(target, asked.host, number),
      retry: true,
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    };
  }
  if (response.status >= 500 || response.status === 408) {
    return { error: unreachable(target, asked, number, new Error(`status ${response.status}`)), retry: true };
  }
  return { error: refused(target, asked, response), retry: false };
}

function codeOf(error: unknown): string {
  return String((error as { cause?: { code?: string } }).cause?.code);
}

/** The token goes to the hub alone; fetch drops it when the hub redirects to another host. */
function authorization(hub: HubConnection, url: URL): Record<string, string> {
  const isHub = url.origin === new URL(hub.endpoint).origin;
  return hub.token === undefined || !isHub ? {} : { authorization: `Bearer ${hub.token}` };
}

/** `RateLimit: "api";r=0;t=55` (draft-ietf-httpapi-ratelimit-headers): seconds until the window begins anew. */
function resetMs(headers: Headers): number | undefined {
  const seconds = /(?:^|;)\s*t=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
