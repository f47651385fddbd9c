import { describe, expect, it } from "vitest";
import { retryAfterMs, sleep, withRetries } from "../../sdk/retry.ts";

const params = { maxAttempts: 3, delayMs: 1 };

describe("withRetries", () => {
  it("tries again until there is a value", async () => {
    const value = await withRetries(
      async (number) => (number < 3 ? { error: new Error("no"), retry: true } : { value: number }),
      params,
    );
    expect(value).toBe(3);
  });

  it("throws the last error when no try is left", async () => {
    let tries = 0;
    const attempt = async () => ({ error: new Error(`no ${++tries}`), retry: true });
    await expect(withRetries(attempt, params)).rejects.toThrow("no 3");
  });

  it("does not repeat what no retry mends", async () => {
    let tries = 0;
    const attempt = async () => ({ error: new Error(`no ${++tries}`), retry: false });
    await expect(withRetries(attempt, params)).rejects.toThrow("no 1");
  });

  it("waits as long as the server asked", async () => {
    const startedMs = performance.now();
    await withRetries(
      async (number) =>
        number === 1 ? { error: new Error("busy"), retry: true, retryAfterMs: 40 } : { value: 0 },
      params,
    );
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(39);
  });

  it("stops waiting when the signal aborts", async () => {
    const controller = new AbortController();
    const attempt = async () => {
      queueMicrotask(() => controller.abort(new Error("enough")));
      return { error: new Error("busy"), retry: true, retryAfterMs: 60_000 };
    };
    await expect(withRetries(attempt, { ...params, signal: controller.signal })).rejects.toThrow("enough");
  });
});

describe("sleep", () => {
  it("rejects at once with the reason of an aborted signal", async () => {
    await expect(sleep(60_000, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });
});

describe("retryAfterMs", () => {
  const headers = (value: string) => new Headers({ "retry-after": value });

  it("reads seconds and dates, and ignores the rest", () => {
    expect(retryAfterMs(headers("1.5"), 0)).toBe(1500);
    expect(retryAfterMs(headers("Thu, 01 Jan 1970 00:00:10 GMT"), 4_000)).toBe(6_000);
    expect(retryAfterMs(headers("Thu, 01 Jan 1970 00:00:10 GMT"), 20_000)).toBe(0);
    expect(retryAfterMs(headers("soon"), 0)).toBeUndefined();
    expect(retryAfterMs(new Headers(), 0)).toBeUndefined();
  });
});
