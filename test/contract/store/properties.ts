import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Document, Store } from "../../../functions/ports/store.ts";
import { allSorts } from "./queries.ts";

const text = fc.oneof(
  fc.constantFrom("a", "b", "a/b", "a/", "ä", "z", "\u{1F600}", "\uffff"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
);
const safe = text.filter((value) => value.isWellFormed() && !value.includes("\0"));
const sort = fc.constantFrom("1", "2", "3");
const command = fc.oneof(
  fc.record({ do: fc.constant("put" as const), sort: safe, time: safe, ifVersion: fc.option(fc.nat(3)) }),
  fc.record({ do: fc.constant("put" as const), sort, time: sort, ifVersion: fc.option(fc.nat(3)) }),
  fc.record({ do: fc.constant("delete" as const), sort, time: sort, ifVersion: fc.option(fc.nat(3)) }),
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

let runs = 0;

/** Any history of puts and deletes leaves the same as a plain Map. */
export function propertyTests(store: () => Store): void {
  describe("compared with a Map", () => {
    it("gives the same versions, conflicts, values and pages for any history", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(command, { maxLength: 25 }),
          safe,
          fc.integer({ min: 1, max: 4 }),
          fc.boolean(),
          async (history, sortPrefix, limit, reverse) => {
            const partition = `p${runs++}`;
            const model = new Map<string, Document & { time: string }>();
            for (const [index, step] of history.entries()) {
              const [real, modelled] = [
                await apply(store(), partition, step, index),
                applyToModel(model, partition, step, index),
              ];
              expect(real).toBe(modelled);
            }
            for (const { time: _, ...document } of model.values()) {
              expect(await store().get(document.key)).toEqual(document);
            }
            const bySort = [...model.keys()].sort(byteOrder);
            const byTime = [...model.values()]
              .sort((a, b) => byteOrder(a.time, b.time) || byteOrder(a.key.sort, b.key.sort))
              .filter((document) => document.time.startsWith(sortPrefix))
              .map((document) => document.key.sort);
            const expected = bySort.filter((key) => key.startsWith(sortPrefix));
            const options = { sortPrefix, limit, reverse };
            expect(await allSorts((more) => store().query(partition, more), options)).toEqual(
              reverse ? expected.reverse() : expected,
            );
            expect(await allSorts((more) => store().queryIndex("time", partition, more), options)).toEqual(
              reverse ? byTime.reverse() : byTime,
            );
          },
        ),
        { numRuns: 60 },
      );
    });
  });
}

async function apply(store: Store, partition: string, step: Command, index: number) {
  const key = { partition, sort: step.sort };
  const condition = step.ifVersion === null ? {} : { ifVersion: step.ifVersion };
  try {
    if (step.do === "delete") return await store.delete(key, condition);
    return await store.put(key, index, {
      ...condition,
      indexes: [{ index: "time", partition, sort: step.time }],
    });
  } catch (error) {
    if (SpotterError.is(error)) return error.code;
    throw error;
  }
}

function applyToModel(
  model: Map<string, Document & { time: string }>,
  partition: string,
  step: Command,
  index: number,
) {
  const version = model.get(step.sort)?.version ?? 0;
  if (step.ifVersion !== null && step.ifVersion !== version) return "store_conflict";
  if (step.do === "delete") {
    model.delete(step.sort);
    return undefined;
  }
  const key = { partition, sort: step.sort };
  model.set(step.sort, { key, value: index, version: version + 1, time: step.time });
  return version + 1;
}

function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
