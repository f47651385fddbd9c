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
  it("asks once, and then knows what writers tell it", async () => {
    let loads = 0;
    const cache = createCache(async () => ({ value: `load ${++loads}`, version: 1 }));
    expect([await cache.get("a"), await cache.get("a")]).toEqual(["load 1", "load 1"]);
    cache.set("a", { value: "written", version: 2 });
    expect(await cache.get("a")).toBe("written");
    expect(loads).toBe(1);
  });

  it("does not keep what was read before it was written", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const cache = createCache(async () => {
      await gate;
      return { value: "old", version: 1 };
    });
    const reading = cache.get("a");
    cache.set("a", { value: "revoked", version: 2 });
    release();
    expect(await reading).toBe("revoked");
    expect(await cache.get("a")).toBe("revoked");
  });

  it("ignores news that are older than what it knows", async () => {
    const cache = createCache<string>(async () => undefined);
    cache.set("a", { value: "third", version: 3 });
    cache.set("a", { value: "second", version: 2 });
    expect(await cache.get("a")).toBe("third");
  });

  it("does not keep that there is nothing", async () => {
    const stored = new Map<string, { value: string; version: number }>();
    const cache = createCache(async (id) => stored.get(id));
    expect(await cache.get("a")).toBeUndefined();
    stored.set("a", { value: "there", version: 1 });
    expect(await cache.get("a")).toBe("there");
  });
});
