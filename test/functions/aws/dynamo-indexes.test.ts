import { readFileSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { entryAttributes, INDEX_SLOTS } from "../../../functions/aws/dynamo-store/indexes.ts";
import { indexesOf, type RunDocument } from "../../../functions/runs/records.ts";

const functions = join(import.meta.dirname, "../../../functions");

it("have a slot for every index name of the control plane", () => {
  const names = globSync("**/*.ts", { cwd: functions })
    .filter((file) => !/^(aws|local|ports|pages)\//.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(functions, file), "utf8");
      const declared = text.matchAll(
        /\bindex: "([^"]+)"|(?:queryIndex|countIndex)(?:<[^>]*>)?\(\s*"([^"]+)"/g,
      );
      return [...declared].map(([, entry, query]) => entry ?? query ?? "");
    });
  expect([...new Set(names)].sort()).toEqual(Object.keys(INDEX_SLOTS).sort());
});

it("keep all entries that one run can have at the same time", () => {
  const document = (fields: object) => fields as RunDocument;
  const deliveries = [{ id: "1" }];
  const documents = ["queued", "running", "paused", "succeeded"].flatMap((state) => [
    document({ run: { id: "r", state }, deliveries, tracked: true }),
    document({ run: { id: "r", state, archived: true }, deliveries }),
    document({ run: { id: "r", state }, deletedAtMs: 1 }),
  ]);
  for (const each of documents) {
    const entries = indexesOf(each);
    const attributes = entryAttributes(INDEX_SLOTS, entries, { partition: "runs", sort: "r" });
    expect(Object.keys(attributes)).toHaveLength(2 * entries.length);
  }
});

it("refuse names without a slot, and two that share one", () => {
  const key = { partition: "runs", sort: "r" };
  const entry = (index: string) => ({ index, partition: "a", sort: "b" });
  expect(() => entryAttributes(INDEX_SLOTS, [entry("unknown")], key)).toThrow(/no slot/);
  expect(() => entryAttributes(INDEX_SLOTS, [entry("archived"), entry("age")], key)).toThrow(/share index1/);
});
