import type { KeyLimits } from "../../sdk/schema/key.ts";
import { msUntil, type Bucket } from "./bucket.ts";

/** Limits, what is left, and how long until all is there again, under the names OpenAI gives them. */
export function rateLimitHeaders(
  buckets: { requests: Bucket; tokens: Bucket },
  { requestsPerMinute, tokensPerMinute }: KeyLimits,
): Record<string, string> {
  return {
    ...(requestsPerMinute !== undefined && headersOf("requests", buckets.requests, requestsPerMinute)),
    ...(tokensPerMinute !== undefined && headersOf("tokens", buckets.tokens, tokensPerMinute)),
  };
}

function headersOf(what: "requests" | "tokens", bucket: Bucket, perMinute: number): Record<string, string> {
  return {
    [`x-ratelimit-limit-${what}`]: String(perMinute),
    [`x-ratelimit-remaining-${what}`]: String(Math.max(0, Math.floor(bucket.level))),
    [`x-ratelimit-reset-${what}`]: durationText(msUntil(bucket, perMinute, perMinute)),
  };
}

/** As in "120ms", "7s" or "1m12s". */
function durationText(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
