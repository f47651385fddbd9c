import { describe, expect, it, onTestFinished } from "vitest";
import type { KeyLimits } from "../../../sdk/schema/key.ts";
import type { KeyHolder } from "../../../functions/keys/key-ring.ts";
import { createLimits, type Limits } from "../../../functions/keys/limits.ts";
import { createUsageBook, type UsageBook } from "../../../functions/keys/usage-book.ts";
import { readUsage } from "../../../functions/keys/usage.ts";
import { openAiError } from "../../../functions/gateway/openai-errors.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { fakeClock, type FakeClock } from "../../fakes/clock.ts";
import { memoryStore } from "../../fakes/memory-store.ts";

const NOVEMBER = Date.UTC(2026, 10, 30, 12);
const MONTH = "2026-11";

interface Home {
  clock: FakeClock;
  store: Store;
  usage: UsageBook;
  limits: Limits;
  complaints: string[];
}

function home(store: Store = memoryStore(), clock = fakeClock(NOVEMBER)): Home {
  const complaints: string[] = [];
  const nothing = () => undefined;
  const log = {
    debug: nothing,
    info: nothing,
    warn: (text: string) => void complaints.push(text),
    error: nothing,
  };
  const usage = createUsageBook({ store, clock, log });
  onTestFinished(() => usage.close());
  return { clock, store, usage, limits: createLimits({ clock, usage }), complaints };
}

const holder = (limits?: KeyLimits): KeyHolder => ({ id: "k1", scope: "chat", ...(limits && { limits }) });

/** The answer to a request that is refused. */
async function refused(
  begun: Promise<unknown>,
): Promise<{ response: Response; error: Record<string, unknown> }> {
  const thrown = await begun.then(
    () => undefined,
    (error: unknown) => error,
  );
  const response = openAiError(SpotterError.from(thrown ?? new Error("it was let in")));
  return { response, error: ((await response.json()) as { error: Record<string, unknown> }).error };
}

describe("requests a minute", () => {
  it("E21 are refused beyond the limit, with the seconds to wait, and flow in again", async () => {
    const { limits, clock } = home();
    const key = holder({ requestsPerMinute: 2 });
    expect((await limits.admit(key, 10)).headers).toEqual({
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
      "x-ratelimit-reset-requests": "30s",
    });
    expect((await limits.admit(key, 10)).headers["x-ratelimit-remaining-requests"]).toBe("0");
    const { response, error } = await refused(limits.admit(key, 10));
    expect(response.status).toBe(429);
    expect(error).toMatchObject({ type: "requests", code: "rate_limit_exceeded", param: null });
    expect(response.headers.get("retry-after")).toBe("30");
    expect(response.headers.get("x-should-retry")).toBeNull();
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(response.headers.get("x-ratelimit-reset-requests")).toBe("1m0s");
    clock.advance(30_000);
    await limits.admit(key, 10);
    expect((await refused(limits.admit(key, 10))).response.status).toBe(429);
  });

  it("never ask clients to wait for more than they obey", async () => {
    const { limits } = home();
    const key = holder({ tokensPerMinute: 10 });
    (await limits.admit(key, 4)).meter({ promptTokens: 1, completionTokens: 5_000 });
    const { response } = await refused(limits.admit(key, 4));
    expect(response.headers.get("retry-after")).toBe("60");
  });

  it("count for each key alone, and not for keys without limits", async () => {
    const { limits } = home();
    const key = holder({ requestsPerMinute: 1 });
    await limits.admit(key, 10);
    await limits.admit({ ...key, id: "k2" }, 10);
    for (let n = 0; n < 100; n++) expect((await limits.admit(holder(), 10)).headers).toEqual({});
  });

  it("follow a limit that is changed, from the next request on", async () => {
    const { limits, clock } = home();
    await limits.admit(holder({ requestsPerMinute: 1 }), 10);
    await refused(limits.admit(holder({ requestsPerMinute: 1 }), 10));
    clock.advance(1_000);
    // 600 a minute are 10 a second.
    await limits.admit(holder({ requestsPerMinute: 600 }), 10);
    const { headers } = await limits.admit(holder({ requestsPerMinute: 3 }), 10);
    expect(headers["x-ratelimit-remaining-requests"]).toBe("2");
    await limits.admit(holder(), 10);
    expect((await limits.admit(holder({ requestsPerMinute: 5 }), 10)).headers).toMatchObject({
      "x-ratelimit-limit-requests": "5",
    });
  });
});

describe("tokens a minute", () => {
  it("E21 are what answers took; a guess by length holds the place of a prompt until then", async () => {
    const { limits, clock } = home();
    const key = holder({ tokensPerMinute: 100 });
    const first = await limits.admit(key, 200);
    expect(first.headers).toMatchObject({
      "x-ratelimit-limit-tokens": "100",
      "x-ratelimit-remaining-tokens": "50",
    });
    first.meter({ promptTokens: 20, completionTokens: 40 });
    first.meter({ promptTokens: 20, completionTokens: 40 });
    const second = await limits.admit(key, 40);
    expect(second.headers["x-ratelimit-remaining-tokens"]).toBe("30");
    second.meter(undefined);
    const { response, error } = await refused(limits.admit(key, 200));
    expect(error).toMatchObject({ type: "tokens", code: "rate_limit_exceeded" });
    expect(response.headers.get("retry-after")).toBe("6");
    clock.advance(6_000);
    await limits.admit(key, 200);
  });

  it("let a prompt in that alone is longer than the limit, when nothing else was asked", async () => {
    const { limits } = home();
    await limits.admit(holder({ tokensPerMinute: 10 }), 4_000);
    expect((await refused(limits.admit(holder({ tokensPerMinute: 10 }), 4))).response.status).toBe(429);
  });
});

describe("tokens a month", () => {
  it("E22 are refused when they are used up, without a retry, until the month is over", async () => {
    const { limits, clock } = home();
    const key = holder({ tokensPerMonth: 100 });
    (await limits.admit(key, 4)).meter({ promptTokens: 60, completionTokens: 40 });
    const { response, error } = await refused(limits.admit(key, 4));
    expect(response.status).toBe(429);
    expect(error).toMatchObject({ type: "insufficient_quota", code: "insufficient_quota", param: null });
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.headers.get("retry-after")).toBeNull();
    clock.advance(12 * 3_600_000);
    await limits.admit(key, 4);
  });

  it("E22 are remembered by the next process, and shared by those that run", async () => {
    const first = home();
    const key = holder({ tokensPerMonth: 100 });
    (await first.limits.admit(key, 4)).meter({ promptTokens: 60, completionTokens: 39 });
    await first.usage.close();
    const second = home(first.store, first.clock);
    const third = home(first.store, first.clock);
    (await second.limits.admit(key, 4)).meter({ promptTokens: 1, completionTokens: 0 });
    await third.limits.admit(key, 4);
    await second.usage.flush();
    await third.usage.flush();
    expect((await refused(third.limits.admit(key, 4))).error).toMatchObject({ code: "insufficient_quota" });
  });

  it("are counted for the month in which the answer ended", async () => {
    const { limits, usage, clock, store } = home();
    const over = await limits.admit(holder(), 4);
    clock.advance(12 * 3_600_000);
    over.meter({ promptTokens: 5, completionTokens: 5 });
    await usage.flush();
    expect(await readUsage(store, "k1", MONTH)).toMatchObject({ requests: 1, promptTokens: 0 });
    expect(await readUsage(store, "k1", "2026-12")).toMatchObject({ requests: 0, promptTokens: 5 });
  });
});

describe("what is counted", () => {
  it("is in the Store within a second, estimates apart", async () => {
    const { limits, clock, store } = home();
    (await limits.admit(holder(), 40)).meter({ promptTokens: 7, completionTokens: 3 });
    (await limits.admit(holder(), 40)).meter({ promptTokens: 0, completionTokens: 5, isEstimate: true });
    expect(await readUsage(store, "k1", MONTH)).toMatchObject({ requests: 0 });
    clock.advance(1_000);
    await new Promise(setImmediate);
    expect(await readUsage(store, "k1", MONTH)).toEqual({
      ...{ month: MONTH, requests: 2, promptTokens: 17, completionTokens: 8, estimated: 1 },
      lastAtMs: NOVEMBER,
    });
    expect(clock.pending).toBe(0);
  });

  it("waits for a Store that is away", async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    const { limits, usage, clock, complaints } = home(store);
    store.put = async () => {
      throw new Error("away");
    };
    (await limits.admit(holder(), 40)).meter({ promptTokens: 7, completionTokens: 3 });
    await usage.flush();
    expect(complaints).toHaveLength(1);
    store.put = put;
    (await limits.admit(holder(), 40)).meter({ promptTokens: 1, completionTokens: 1 });
    clock.advance(1_000);
    await usage.flush();
    expect(await readUsage(store, "k1", MONTH)).toMatchObject({ requests: 2, promptTokens: 8 });
  });

  it("is nothing for the key of the process itself", async () => {
    const { limits, clock } = home();
    const { headers, meter } = await limits.admit({ id: "root", scope: "admin", isRoot: true }, 10);
    meter({ promptTokens: 1, completionTokens: 1 });
    expect(headers).toEqual({});
    expect(clock.pending).toBe(0);
  });

  it("is read from the Store once, however many ask at the same time", async () => {
    const store = memoryStore();
    const { limits } = home(store);
    let reads = 0;
    const get = store.get.bind(store);
    store.get = async (key) => {
      reads++;
      return get(key);
    };
    await Promise.all(Array.from({ length: 20 }, () => limits.admit(holder(), 4)));
    await limits.admit(holder(), 4);
    expect(reads).toBe(1);
  });
});
