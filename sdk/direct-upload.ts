import { retryAfterMs, withRetries, type Attempt } from "./retry.ts";
import { SpotterError } from "./schema/errors.ts";
import type { DirectUpload } from "./schema/upload.ts";

export interface PutDirectParams {
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  /** Default: as for every request. */
  maxAttempts?: number;
  retryDelayMs?: number;
}

/** Sends bytes straight to where a server keeps them; the URL alone lets them in, and no key goes along. */
export async function putDirect(
  { url, headers }: DirectUpload,
  body: Uint8Array | Blob,
  { signal, timeoutMs, maxAttempts = 4, retryDelayMs = 500 }: PutDirectParams,
): Promise<void> {
  await withRetries(() => attempt(url, headers, body, signal, timeoutMs), {
    maxAttempts,
    delayMs: retryDelayMs,
    signal,
  });
}

async function attempt(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array | Blob,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Attempt<undefined>> {
  const { host } = new URL(url);
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  try {
    const response = await fetch(url, { method: "PUT", headers, body, signal: AbortSignal.any(signals) });
    const text = await response.text();
    if (response.ok) return { value: undefined };
    const message = `${host} did not take an upload: ${response.status} ${text.slice(0, 300)}`;
    const code = response.status < 500 ? "invalid_input" : "internal";
    const retry = response.status >= 500 || response.status === 429;
    return {
      error: new SpotterError(code, message, {
        where: host,
        hint: "Send it again; its URL may have expired.",
      }),
      retry,
      retryAfterMs: retryAfterMs(response.headers, Date.now()),
    };
  } catch (cause) {
    signal?.throwIfAborted();
    const message = `Cannot send an upload to ${host}.`;
    const hint = "Check the network; a proxy may refuse this host.";
    return {
      error: new SpotterError("daemon_unreachable", message, { where: host, hint, retryable: true, cause }),
      retry: true,
    };
  }
}
