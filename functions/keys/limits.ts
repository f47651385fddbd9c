import type { KeyLimits } from "../../sdk/schema/key.ts";
import { RefusedRequest } from "../gateway/refused-request.ts";
import type { Clock } from "../ports/clock.ts";
import { fullBucket, msUntil, refill, type Bucket } from "./bucket.ts";
import type { KeyHolder } from "./key-ring.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import type { UsageBook } from "./usage-book.ts";
import { monthOf, tokensOf } from "./usage.ts";

/** What an answer took, as the relay learned it. */
export interface TokenCount {
  promptTokens: number;
  completionTokens: number;
  /** The engine did not tell: the prompt is guessed by its length, the completion by its chunks. */
  isEstimate?: boolean;
}

/** A request that was let in. */
export interface Admission {
  /** `x-ratelimit-*` of keys that have limits. */
  headers: Record<string, string>;
  /**
   * To be called once the answer is over, however it ended; undefined: nothing was generated. Later calls change
   * nothing.
   */
  meter: (count: TokenCount | undefined) => void;
}

export interface Limits {
  /** Counts a request against its key. Throws `rate_limited` or `quota_exhausted`. */
  admit(holder: KeyHolder, promptBytes: number): Promise<Admission>;
}

interface Buckets {
  requests: Bucket;
  tokens: Bucket;
}

/** Until the engine tells, a token is taken for this many bytes of the request. */
const BYTES_PER_TOKEN = 4;
const NOTHING = { requests: 0, promptTokens: 0, completionTokens: 0, estimated: 0, lastAtMs: 0 };
/** SDKs obey what is at most a minute. */
const MAX_RETRY_AFTER_S = 60;

export interface LimitsParams {
  clock: Clock;
  usage: UsageBook;
  /** Those who let requests in, each its part of what a minute allows. Default: this process alone. */
  fleet?: { readonly size: number };
}

const ALONE = { size: 1 };

/** Limits of all keys of this process. A key without limits is only counted; one without record not even that. */
export function createLimits({ clock, usage, fleet = ALONE }: LimitsParams): Limits {
  const buckets = new Map<string, Buckets>();

  function bucketsOf(id: string, limits: KeyLimits, nowMs: number): Buckets {
    let known = buckets.get(id);
    if (known === undefined) {
      known = {
        requests: fullBucket(limits.requestsPerMinute ?? Infinity, nowMs),
        tokens: fullBucket(limits.tokensPerMinute ?? Infinity, nowMs),
      };
      buckets.set(id, known);
    }
    refill(known.requests, limits.requestsPerMinute ?? Infinity, nowMs);
    refill(known.tokens, limits.tokensPerMinute ?? Infinity, nowMs);
    return known;
  }

  return {
    async admit(holder, promptBytes) {
      if (holder.isRoot) return { headers: {}, meter: () => undefined };
      await usage.load(holder.id);
      const limits = holder.limits ?? {};
      const nowMs = clock.now();
      const estimate = Math.ceil(promptBytes / BYTES_PER_TOKEN);
      checkBudget(limits, tokensOf(usage.of(holder.id)), nowMs);
      const part = partOf(limits, fleet.size);
      const mine = bucketsOf(holder.id, part, nowMs);
      const reserved = take(mine, part, limits, estimate);
      usage.add(holder.id, { ...NOTHING, requests: 1, lastAtMs: nowMs });
      let isOver = false;
      return {
        headers: rateLimitHeaders(mine, part, limits),
        meter(count) {
          if (isOver) return;
          isOver = true;
          const { promptTokens, completionTokens, isEstimate } = counted(count, estimate);
          mine.tokens.level += reserved - promptTokens - completionTokens;
          const estimated = isEstimate ? 1 : 0;
          usage.add(holder.id, { ...NOTHING, promptTokens, completionTokens, estimated });
        },
      };
    },
  };
}

function counted(count: TokenCount | undefined, estimate: number): TokenCount & { isEstimate: boolean } {
  if (count === undefined) return { promptTokens: 0, completionTokens: 0, isEstimate: false };
  const isEstimate = count.isEstimate ?? false;
  return {
    ...count,
    promptTokens: isEstimate ? count.promptTokens || estimate : count.promptTokens,
    isEstimate,
  };
}

/** What a minute allows here; a month's budget is counted by all together. */
function partOf(limits: KeyLimits, size: number): KeyLimits {
  if (size === 1) return limits;
  const { requestsPerMinute, tokensPerMinute } = limits;
  return {
    ...limits,
    ...(requestsPerMinute !== undefined && { requestsPerMinute: requestsPerMinute / size }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute: tokensPerMinute / size }),
  };
}

function checkBudget({ tokensPerMonth }: KeyLimits, used: number, nowMs: number): void {
  if (tokensPerMonth === undefined || used < tokensPerMonth) return;
  throw new RefusedRequest(
    "quota_exhausted",
    `This key used ${used} of its ${tokensPerMonth} tokens of ${monthOf(nowMs)}.`,
    { code: "insufficient_quota", type: "insufficient_quota", headers: { "x-should-retry": "false" } },
    { hint: "Its owner can raise the limit with `spotter key update`." },
  );
}

/** Takes one request and the tokens of its prompt, or nothing and throws. Returns the tokens it took. */
function take(buckets: Buckets, part: KeyLimits, whole: KeyLimits, estimate: number): number {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = part;
  const tokens = Math.min(estimate, tokensPerMinute);
  const waits = {
    requests: msUntil(buckets.requests, requestsPerMinute, 1),
    tokens: msUntil(buckets.tokens, tokensPerMinute, tokens),
  };
  if (waits.requests > 0) throw rateLimited("requests", waits.requests, buckets, part, whole);
  if (waits.tokens > 0) throw rateLimited("tokens", waits.tokens, buckets, part, whole);
  buckets.requests.level -= 1;
  buckets.tokens.level -= tokens;
  return tokens;
}

function rateLimited(
  what: "requests" | "tokens",
  waitMs: number,
  buckets: Buckets,
  part: KeyLimits,
  whole: KeyLimits,
): RefusedRequest {
  const perMinute = what === "requests" ? whole.requestsPerMinute : whole.tokensPerMinute;
  const seconds = Math.min(MAX_RETRY_AFTER_S, Math.max(1, Math.ceil(waitMs / 1_000)));
  return new RefusedRequest(
    "rate_limited",
    `Rate limit reached: this key may use ${perMinute} ${what} a minute. Try again in ${seconds} s.`,
    {
      code: "rate_limit_exceeded",
      type: what,
      headers: { ...rateLimitHeaders(buckets, part, whole), "retry-after": String(seconds) },
    },
  );
}
