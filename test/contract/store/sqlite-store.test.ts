import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore } from "../../../functions/local/sqlite-store.ts";
import { storeContract } from "./suite.ts";

storeContract("SqliteStore", async () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-store-"));
  const open = () => new SqliteStore(join(folder, "state.db"));
  const stores = [open()] as [SqliteStore, ...SqliteStore[]];
  return {
    store: stores[0],
    another: async () => {
      const store = open();
      stores.push(store);
      return store;
    },
    dispose: async () => {
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
