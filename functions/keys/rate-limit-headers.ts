import type { KeyLimits } from "../../sdk/schema/key.ts";
import { msUntil, type Bucket } from "./bucket.ts";

/**
 * Limits, what is left, and how long until all is there again, under the names OpenAI gives them. With several
 * gateways what is left is this one's part.
 */
export function rateLimitHeaders(
  { requests, tokens }: { requests: Bucket; tokens: Bucket },
  { requestsPerMinute, tokensPerMinute }: KeyLimits,
  whole: KeyLimits,
): Record<string, string> {
  // Names written out: made from parts they would have to be looked up as strings with each request.
  const headers: Record<string, string> = {};
  if (requestsPerMinute !== undefined) {
    headers["x-ratelimit-limit-requests"] = String(whole.requestsPerMinute);
    headers["x-ratelimit-remaining-requests"] = left(requests);
    headers["x-ratelimit-reset-requests"] = durationText(
      msUntil(requests, requestsPerMinute, requestsPerMinute),
    );
  }
  if (tokensPerMinute !== undefined) {
    headers["x-ratelimit-limit-tokens"] = String(whole.tokensPerMinute);
    headers["x-ratelimit-remaining-tokens"] = left(tokens);
    headers["x-ratelimit-reset-tokens"] = durationText(msUntil(tokens, tokensPerMinute, tokensPerMinute));
  }
  return headers;
}

function left({ level }: Bucket): string {
  return String(Math.max(0, Math.floor(level)));
}

/** As in "120ms", "7s" or "1m12s". */
function durationText(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
