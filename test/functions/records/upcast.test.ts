import { describe, expect, it } from "vitest";
import { SqliteStore } from "../../../functions/local/sqlite-store.ts";
import { DOCUMENT_KINDS, upcasting, type DocumentKind } from "../../../functions/records/upcast.ts";
import { useFolder } from "../local/use-folder.ts";

const folder = useFolder();
const kinds: Record<string, DocumentKind> = {
  poems: {
    version: 2,
    upcasts: {
      0: (old) => ({ v: 1, text: old["t"] }),
      1: (old) => ({ v: 2, lines: String(old["text"]).split("\n") }),
    },
  },
};

async function poems(): Promise<{ raw: SqliteStore; store: ReturnType<typeof upcasting> }> {
  const raw = new SqliteStore(folder("state.db"));
  await raw.put({ partition: "poems/a", sort: "0" }, { t: "old\npond" });
  const indexes = [{ index: "by-name", partition: "all", sort: "one" }];
  await raw.put({ partition: "poems/a", sort: "1" }, { v: 1, text: "frog" }, { indexes });
  await raw.put({ partition: "poems/a", sort: "2" }, { v: 2, lines: ["splash"] });
  return { raw, store: upcasting(raw, kinds) };
}

describe("documents of older versions", () => {
  it("are of today's shape wherever they are read, and stay as they were", async () => {
    const { raw, store } = await poems();
    const all = [["old", "pond"], ["frog"], ["splash"]].map((lines) => ({ v: 2, lines }));
    expect((await store.get({ partition: "poems/a", sort: "0" }))?.value).toEqual(all[0]);
    expect((await store.query("poems/a")).items.map(({ value }) => value)).toEqual(all);
    expect((await store.queryIndex("by-name", "all")).items.map(({ value }) => value)).toEqual([all[1]]);
    expect((await store.query("poems/a", { limit: 1 })).next).toBeDefined();
    expect(await store.get({ partition: "poems/a", sort: "9" })).toBeUndefined();
    expect((await raw.get({ partition: "poems/a", sort: "0" }))?.value).toEqual({ t: "old\npond" });
    await raw.close();
  });

  it("of a newer version are refused with the remedy", async () => {
    const { raw, store } = await poems();
    await raw.put({ partition: "poems/a", sort: "3" }, { v: 3 });
    await expect(store.get({ partition: "poems/a", sort: "3" })).rejects.toMatchObject({
      code: "state_too_new",
      where: "poems/a/3",
      hint: expect.stringContaining("newer version") as string,
    });
    await raw.close();
  });

  it("are never written: what has no version could not be changed later", async () => {
    const { raw, store } = await poems();
    for (const value of [{ lines: [] }, { v: 1, text: "" }, "text", null]) {
      await expect(store.put({ partition: "poems/a", sort: "4" }, value)).rejects.toMatchObject({
        code: "internal",
      });
    }
    expect(await store.put({ partition: "poems/a", sort: "4" }, { v: 2, lines: [] })).toBe(1);
    await raw.close();
  });
});

it("names an upcast for every version before today's", () => {
  for (const [name, { version, upcasts }] of Object.entries(DOCUMENT_KINDS)) {
    const known = Object.keys(upcasts).map(Number);
    // Version 0 is a document without `v`; some kinds never had one.
    const first = known.includes(0) ? 0 : 1;
    expect(known, name).toEqual(Array.from({ length: version - first }, (_, index) => first + index));
  }
});
