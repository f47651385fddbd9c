import { describe, expect, it } from "vitest";
import type { QueryOptions, QueryPage, Store } from "../../../functions/ports/store.ts";

export function queryTests(store: () => Store): void {
  const sorts = ["a", "b/1", "b/10", "b/2", "b\u{10FFFF}", "c", "ä", "\uffff", "\u{1F600}"];
  const fill = async () => {
    for (const sort of [...sorts].reverse()) await store().put({ partition: "p", sort }, { sort });
    await store().put({ partition: "other", sort: "b/3" }, {});
  };

  describe("queries", () => {
    it("list a partition in byte order, both ways", async () => {
      await fill();
      expect(sortsOf(await store().query("p"))).toEqual(sorts);
      expect(sortsOf(await store().query("p", { reverse: true }))).toEqual([...sorts].reverse());
      expect(await store().query("none")).toEqual({ items: [] });
    });

    it("narrow by a prefix of the sort text", async () => {
      await fill();
      expect(sortsOf(await store().query("p", { sortPrefix: "b/" }))).toEqual(["b/1", "b/10", "b/2"]);
      expect(sortsOf(await store().query("p", { sortPrefix: "b" }))).toEqual(sorts.slice(1, 5));
      expect(sortsOf(await store().query("p", { sortPrefix: "b/", reverse: true }))).toEqual([
        "b/2",
        "b/10",
        "b/1",
      ]);
      expect(sortsOf(await store().query("p", { sortPrefix: "%" }))).toEqual([]);
    });

    it.each([1, 2, 3, 100])("page by %i with cursors, both ways", async (limit) => {
      await fill();
      const list = (options: QueryOptions) => store().query("p", options);
      expect(await allSorts(list, { limit })).toEqual(sorts);
      expect(await allSorts(list, { limit, reverse: true })).toEqual([...sorts].reverse());
      expect(await allSorts(list, { limit, sortPrefix: "b/" })).toEqual(["b/1", "b/10", "b/2"]);
      expect(await allSorts(list, { limit, sortPrefix: "b/", reverse: true })).toEqual([
        "b/2",
        "b/10",
        "b/1",
      ]);
    });

    it("have no cursor on the last page", async () => {
      await fill();
      expect((await store().query("p", { limit: sorts.length })).next).toBeUndefined();
      expect((await store().query("p", { limit: sorts.length - 1 })).next).toBeTypeOf("string");
    });

    it("give 100 items when nobody says otherwise", async () => {
      for (let n = 0; n < 101; n++) await store().put({ partition: "many", sort: String(n) }, n);
      const page = await store().query("many");
      expect(page.items).toHaveLength(100);
      const rest = await store().query("many", page.next === undefined ? {} : { after: page.next });
      expect(rest.items).toHaveLength(1);
    });

    it.each(["nonsense", "e30", "WzFd"])("refuse the cursor %j", async (after) => {
      await expect(store().query("p", { after })).rejects.toMatchObject({ code: "invalid_input" });
    });

    it("refuse a page of nothing", async () => {
      await expect(store().query("p", { limit: 0 })).rejects.toMatchObject({ code: "invalid_input" });
    });
  });

  describe("indexes", () => {
    const put = (sort: string, status: string, time: string) =>
      store().put({ partition: "run", sort }, { status }, { indexes: entries(status, time) });
    const entries = (status: string, time: string) => [
      { index: "status", partition: `run#${status}`, sort: time },
      { index: "time", partition: "run", sort: time },
    ];

    it("find documents by another key, in its order", async () => {
      await put("r1", "queued", "03");
      await put("r2", "queued", "01");
      await put("r3", "done", "02");
      expect(sortsOf(await store().queryIndex("status", "run#queued"))).toEqual(["r2", "r1"]);
      expect(sortsOf(await store().queryIndex("time", "run", { reverse: true }))).toEqual(["r1", "r3", "r2"]);
      expect(sortsOf(await store().queryIndex("time", "run", { sortPrefix: "02" }))).toEqual(["r3"]);
      const page = await store().queryIndex("status", "run#done");
      expect(page.items).toEqual([
        { key: { partition: "run", sort: "r3" }, value: { status: "done" }, version: 1 },
      ]);
    });

    it("follow the document: moved by a put, kept by a put that names none, gone with a delete", async () => {
      await put("r1", "queued", "01");
      await put("r1", "running", "01");
      expect(sortsOf(await store().queryIndex("status", "run#queued"))).toEqual([]);
      await store().put({ partition: "run", sort: "r1" }, { status: "running", step: 1 });
      expect((await store().queryIndex("status", "run#running")).items).toMatchObject([
        { value: { step: 1 }, version: 3 },
      ]);
      await store().put({ partition: "run", sort: "r1" }, {}, { indexes: entries("running", "01").slice(1) });
      expect(sortsOf(await store().queryIndex("status", "run#running"))).toEqual([]);
      expect(sortsOf(await store().queryIndex("time", "run"))).toEqual(["r1"]);
      await store().delete({ partition: "run", sort: "r1" });
      expect(sortsOf(await store().queryIndex("time", "run"))).toEqual([]);
    });

    it("stay as they were when the put loses", async () => {
      await put("r1", "queued", "01");
      const late = store().put(
        { partition: "run", sort: "r1" },
        {},
        { ifVersion: 7, indexes: entries("done", "02") },
      );
      await expect(late).rejects.toMatchObject({ code: "store_conflict" });
      expect(sortsOf(await store().queryIndex("status", "run#queued"))).toEqual(["r1"]);
      expect(sortsOf(await store().queryIndex("status", "run#done"))).toEqual([]);
    });

    it.each([1, 2, 4])("page by %i over equal sort texts without losing or repeating one", async (limit) => {
      const expected = ["r1", "r2", "r3", "r4", "r5"];
      for (const sort of expected) await put(sort, "queued", sort < "r4" ? "same" : "then");
      const list = (options: QueryOptions) => store().queryIndex("time", "run", options);
      expect(await allSorts(list, { limit })).toEqual(expected);
      expect(await allSorts(list, { limit, reverse: true })).toEqual([...expected].reverse());
    });

    it("are counted without being read", async () => {
      await put("r1", "queued", "01");
      await put("r2", "queued", "01");
      await put("r3", "done", "01");
      await put("r2", "done", "02");
      const count = (partition: string) => store().countIndex("status", partition);
      expect([await count("run#queued"), await count("run#done"), await count("run#never")]).toEqual([
        1, 2, 0,
      ]);
      await store().delete({ partition: "run", sort: "r2" });
      expect(await count("run#done")).toBe(1);
    });

    it("take one entry of a document for each name", async () => {
      const twice = [
        { index: "time", partition: "a", sort: "1" },
        { index: "time", partition: "b", sort: "1" },
      ];
      const put = store().put({ partition: "run", sort: "r1" }, {}, { indexes: twice });
      await expect(put).rejects.toMatchObject({ code: "invalid_input" });
    });
  });
}

export function sortsOf(page: QueryPage): string[] {
  return page.items.map((item) => item.key.sort);
}

export async function allSorts(
  list: (options: QueryOptions) => Promise<QueryPage>,
  options: QueryOptions,
): Promise<string[]> {
  const sorts: string[] = [];
  let after: string | undefined;
  do {
    const page = await list(after === undefined ? options : { ...options, after });
    expect(page.items.length).toBeLessThanOrEqual(options.limit ?? 100);
    sorts.push(...sortsOf(page));
    after = page.next;
  } while (after !== undefined);
  return sorts;
}
