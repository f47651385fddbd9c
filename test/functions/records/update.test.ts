import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Store } from "../../../functions/ports/store.ts";
import { createCache } from "../../../functions/records/cache.ts";
import { update } from "../../../functions/records/update.ts";

const key = { partition: "p", sort: "s" };

/** A store with one document in which somebody else is faster a number of times. */
function contended(losses: number): Pick<Store, "get" | "put"> & { value: number } {
  let version = 1;
  const store = {
    value: 0,
    get: async <T>() => ({ key, value: store.value as T, version }),
    async put(_key: unknown, value: unknown, options?: { ifVersion?: number }) {
      if (losses > 0) {
        losses--;
        version++;
        store.value += 100;
      }
      if (options?.ifVersion !== version) throw new SpotterError("store_conflict", "lost");
      store.value = value as number;
      return ++version;
    },
  };
  return store;
}

describe("update", () => {
  it("repeats the change on what is there now, so that none is lost", async () => {
    const store = contended(3);
    const result = await update<number>(store as unknown as Store, key, (current) => ({
      value: (current?.value ?? 0) + 1,
    }));
    expect(store.value).toBe(301);
    expect(result?.value).toBe(301);
  });

  it("gives up in the end, and leaves alone what is not to change", async () => {
    const change = () => update<number>(contended(1_000) as unknown as Store, key, () => ({ value: 1 }));
    await expect(change()).rejects.toMatchObject({ code: "store_conflict" });
    const store = contended(1);
    expect((await update<number>(store as unknown as Store, key, () => undefined))?.value).toBe(0);
    expect(store.value).toBe(0);
  });
});

describe("a cache", () => {
  it("asks once until the writer says that it changed", async () => {
    let loads = 0;
    const cache = createCache(async () => ++loads);
    expect([await cache.get("a"), await cache.get("a")]).toEqual([1, 1]);
    cache.forget("a");
    expect(await cache.get("a")).toBe(2);
  });

  it("does not keep what was read while it was written", async () => {
    let stored = "old";
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const cache = createCache(async () => {
      const read = stored;
      await gate;
      return read;
    });
    const reading = cache.get("a");
    stored = "revoked";
    cache.forget("a");
    release();
    expect(await reading).toBe("old");
    expect(await cache.get("a")).toBe("revoked");
  });

  it("does not keep that there is nothing", async () => {
    const stored = new Map<string, string>();
    const cache = createCache(async (id) => stored.get(id));
    expect(await cache.get("a")).toBeUndefined();
    stored.set("a", "there");
    expect(await cache.get("a")).toBe("there");
  });
});
