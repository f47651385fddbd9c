import { describe, expect, it } from "vitest";
import { MAX_VALUE_BYTES } from "../../../functions/ports/store.ts";
import type { StoreFixture } from "./suite.ts";

export function streamTests(fixture: () => StoreFixture): void {
  describe("streams", () => {
    it("number events from 1, whatever the batches", async () => {
      const { store } = fixture();
      expect(await store.append("s", ["a", "b"])).toBe(2);
      expect(await store.append("s", [{ c: 1 }])).toBe(3);
      expect(await store.append("other", ["x"])).toBe(1);
      expect(await store.read("s", 0, 10)).toEqual([
        { seq: 1, value: "a" },
        { seq: 2, value: "b" },
        { seq: 3, value: { c: 1 } },
      ]);
    });

    it("read from any point, up to a limit, across batches", async () => {
      const { store } = fixture();
      await store.append("s", [1, 2, 3]);
      await store.append("s", [4]);
      await store.append("s", [5, 6]);
      const read = async (after: number, limit: number) =>
        (await store.read("s", after, limit)).map((entry) => entry.value);
      expect(await read(0, 2)).toEqual([1, 2]);
      expect(await read(1, 3)).toEqual([2, 3, 4]);
      expect(await read(2, 100)).toEqual([3, 4, 5, 6]);
      expect(await read(6, 100)).toEqual([]);
      expect(await read(99, 100)).toEqual([]);
      expect(await read(0, 0)).toEqual([]);
      expect(await store.read("never", 0, 10)).toEqual([]);
    });

    it("take a batch id once", async () => {
      const { store } = fixture();
      expect(await store.append("s", ["a", "b"], { batchId: "1:1" })).toBe(2);
      expect(await store.append("s", ["c"], { batchId: "1:2" })).toBe(3);
      expect(await store.append("s", ["a", "b"], { batchId: "1:1" })).toBe(2);
      expect(await store.append("t", ["a"], { batchId: "1:1" })).toBe(1);
      expect((await store.read("s", 0, 10)).map((entry) => entry.value)).toEqual(["a", "b", "c"]);
    });

    it("take nothing as nothing", async () => {
      const { store } = fixture();
      expect(await store.append("s", [])).toBe(0);
      await store.append("s", ["a"]);
      expect(await store.append("s", [])).toBe(1);
    });

    it("lose and repeat no event of many writers", async () => {
      const { store, another } = fixture();
      const second = await another();
      const ends = await Promise.all(
        Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? store : second).append("s", [n, n])),
      );
      expect([...new Set(ends)]).toHaveLength(40);
      const entries = await store.read("s", 0, 1000);
      expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
      // A batch stays together.
      for (let n = 0; n < 80; n += 2) expect(entries[n]?.value).toBe(entries[n + 1]?.value);
    });

    it("begin anew once they are deleted, and so do the names of their batches", async () => {
      const { store } = fixture();
      await store.append("s", ["a", "b"], { batchId: "1" });
      await store.append("t", ["x"], { batchId: "1" });
      await store.deleteStream("s");
      expect(await store.read("s", 0, 10)).toEqual([]);
      expect(await store.append("s", ["c"], { batchId: "1" })).toBe(1);
      expect(await store.read("t", 0, 10)).toEqual([{ seq: 1, value: "x" }]);
      await store.deleteStream("never");
    });

    it("refuse a batch above the size limit", async () => {
      const { store } = fixture();
      const half = "x".repeat(MAX_VALUE_BYTES / 2);
      await expect(store.append("s", [half, half])).rejects.toMatchObject({ code: "value_too_large" });
      expect(await store.read("s", 0, 10)).toEqual([]);
    });
  });
}
