import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_VALUE_BYTES, type Store } from "../../../functions/ports/store.ts";
import { queryTests } from "./queries.ts";
import { propertyTests } from "./properties.ts";
import { streamTests } from "./streams.ts";

/** A fresh, empty store, and how to get rid of it. */
export interface StoreFixture {
  store: Store;
  /** Another handle on the same data, as a second process of the control plane would have. */
  another: () => Promise<Store>;
  dispose(): Promise<void>;
}

/** What every Store must do. */
export function storeContract(name: string, create: () => Promise<StoreFixture>): void {
  describe(`${name} keeps the Store contract`, () => {
    let fixture: StoreFixture;
    beforeEach(async () => {
      fixture = await create();
    });
    afterEach(async () => {
      await fixture.dispose();
    });

    documentTests(() => fixture);
    queryTests(() => fixture.store);
    streamTests(() => fixture);
    propertyTests(() => fixture.store);
  });
}

function documentTests(fixture: () => StoreFixture): void {
  const key = { partition: "run", sort: "01" };

  describe("documents", () => {
    it("gives back what was put, with its key and version", async () => {
      const { store } = fixture();
      const value = { v: 1, text: "ä\u0000\u{1F600}", list: [1, 2.5, null, true], nested: { a: {} } };
      expect(await store.put(key, value)).toBe(1);
      expect(await store.get(key)).toEqual({ key, value, version: 1 });
    });

    it("has nothing under a key that was never put", async () => {
      expect(await fixture().store.get(key)).toBeUndefined();
    });

    it("counts versions and replaces the whole value", async () => {
      const { store } = fixture();
      await store.put(key, { a: 1 });
      expect(await store.put(key, { b: 2 })).toBe(2);
      expect(await store.get(key)).toMatchObject({ value: { b: 2 }, version: 2 });
      expect((await store.get<Record<string, number>>(key))?.value).not.toHaveProperty("a");
    });

    it("puts only on top of the expected version", async () => {
      const { store } = fixture();
      expect(await store.put(key, "first", { ifVersion: 0 })).toBe(1);
      await expect(store.put(key, "again", { ifVersion: 0 })).rejects.toMatchObject({
        code: "store_conflict",
      });
      expect(await store.put(key, "second", { ifVersion: 1 })).toBe(2);
      await expect(store.put(key, "late", { ifVersion: 1 })).rejects.toMatchObject({
        code: "store_conflict",
      });
      await expect(store.put({ ...key, sort: "02" }, "x", { ifVersion: 3 })).rejects.toMatchObject({
        code: "store_conflict",
      });
      expect(await store.get(key)).toMatchObject({ value: "second", version: 2 });
    });

    it("lets exactly one of many writers win a version", async () => {
      const { store, another } = fixture();
      const second = await another();
      await store.put(key, { winner: -1 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : second).put(key, { winner: index }, { ifVersion: 1 }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
      const winner = outcomes.findIndex((outcome) => outcome.status === "fulfilled");
      expect(await second.get(key)).toMatchObject({ value: { winner }, version: 2 });
    });

    it("deletes, and begins at version 1 again", async () => {
      const { store } = fixture();
      await store.put(key, "a");
      await store.put(key, "b");
      await expect(store.delete(key, { ifVersion: 1 })).rejects.toMatchObject({ code: "store_conflict" });
      expect(await store.get(key)).toMatchObject({ value: "b" });
      await store.delete(key, { ifVersion: 2 });
      expect(await store.get(key)).toBeUndefined();
      await store.delete(key);
      await expect(store.delete(key, { ifVersion: 2 })).rejects.toMatchObject({ code: "store_conflict" });
      expect(await store.put(key, "c", { ifVersion: 0 })).toBe(1);
    });

    it("takes values up to the limit and refuses larger ones", async () => {
      const { store } = fixture();
      const largest = "x".repeat(MAX_VALUE_BYTES - 2);
      await store.put(key, largest);
      expect((await store.get(key))?.value).toBe(largest);
      await expect(store.put(key, `${largest}x`)).rejects.toMatchObject({ code: "value_too_large" });
      // Bytes count, not characters.
      await expect(store.put(key, "ä".repeat(MAX_VALUE_BYTES / 2))).rejects.toMatchObject({
        code: "value_too_large",
      });
      expect(await store.get(key)).toMatchObject({ version: 1 });
    });

    it.each([
      ["an empty partition", { partition: "", sort: "a" }],
      ["an empty sort", { partition: "a", sort: "" }],
      ["half a character", { partition: "a", sort: "\ud800" }],
      ["a long sort", { partition: "a", sort: "x".repeat(1025) }],
    ])("refuses a key with %s", async (_title, bad) => {
      await expect(fixture().store.put(bad, 1)).rejects.toMatchObject({ code: "invalid_input" });
    });

    it("refuses a value that is not JSON", async () => {
      await expect(fixture().store.put(key, undefined)).rejects.toMatchObject({ code: "invalid_input" });
    });
  });
}
