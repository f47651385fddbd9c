import { describe, expect, it } from "vitest";
import { createAliasTable } from "../../../functions/aliases/alias-table.ts";
import { createRouteTable } from "../../../functions/gateway/route-table.ts";
import { memoryStore } from "../../fakes/memory-store.ts";

describe.each([
  ["the table of endpoints", createRouteTable],
  ["the table of aliases", createAliasTable],
])("%s", (_name, create) => {
  it("is read once for all who ask, and again after a Store that was away", async () => {
    const store = memoryStore();
    const query = store.query.bind(store);
    let reads = 0;
    let isAway = true;
    store.query = async <T>(...args: Parameters<typeof query>) => {
      reads++;
      if (isAway) throw new Error("away");
      return query<T>(...args);
    };
    const table = create(store);
    await expect(Promise.all([table.load(), table.load()])).rejects.toThrow("away");
    expect(reads).toBe(1);
    isAway = false;
    await Promise.all([table.load(), table.load(), table.load()]);
    await table.load();
    expect(reads).toBe(2);
  });
});
