import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { QueryOptions, QueryPage } from "../../ports/store.ts";
import { checkLimit, checkPart } from "../../ports/store-keys.ts";
import { decodeCursor, encodeCursor } from "../../ports/store-values.ts";
import { toDocument } from "./documents.ts";
import { indexPartition, slotOf, type IndexSlots } from "./indexes.ts";
import { pagesOf, textOf, type Item, type RangeQuery, type Table } from "./table.ts";

/** A range of the table or of one of its indexes. */
interface Range {
  index?: string;
  partitionName: string;
  partition: string;
  sortName: string;
  /** Attributes that say where an item is, the sort text first: a cursor has their values. */
  position: readonly string[];
}

/** Documents of one partition. */
export async function queryPartition<T>(
  table: Table,
  partition: string,
  options: QueryOptions,
): Promise<QueryPage<T>> {
  checkPart("partition", partition);
  const range = { partitionName: "pk", partition, sortName: "sk", position: ["sk"] };
  return pageOf<T>(table, range, options);
}

/** Documents of one partition of an index, by the sort text of their entries. */
export async function queryEntries<T>(
  table: Table,
  slots: IndexSlots,
  index: string,
  partition: string,
  options: QueryOptions,
): Promise<QueryPage<T>> {
  return pageOf<T>(table, entriesRange(slots, index, partition), options);
}

export async function countEntries(
  table: Table,
  slots: IndexSlots,
  index: string,
  partition: string,
): Promise<number> {
  const query = rangeQuery(entriesRange(slots, index, partition), "");
  let entries = 0;
  for await (const page of pagesOf(table, { ...query, Select: "COUNT" })) entries += page.Count ?? 0;
  return entries;
}

function entriesRange(slots: IndexSlots, index: string, partition: string): Range {
  checkPart("index", index);
  checkPart("partition", partition);
  const slot = slotOf(slots, index);
  return {
    index: slot,
    partitionName: `${slot}pk`,
    partition: indexPartition(index, partition),
    sortName: `${slot}sk`,
    position: [`${slot}sk`, "pk", "sk"],
  };
}

/** One item more than asked for tells whether there is another page. */
async function pageOf<T>(table: Table, range: Range, options: QueryOptions): Promise<QueryPage<T>> {
  const limit = checkLimit(options.limit);
  const prefix = options.sortPrefix ?? "";
  const query: RangeQuery = {
    ...rangeQuery(range, prefix),
    Limit: limit + 1,
    ScanIndexForward: options.reverse !== true,
    ...(options.after !== undefined && { ExclusiveStartKey: startKey(range, options.after, prefix) }),
  };
  const items: Item[] = [];
  for await (const page of pagesOf(table, query)) {
    items.push(...(page.Items ?? []));
    if (items.length > limit) break;
  }
  const last = items[limit - 1];
  return {
    items: items.slice(0, limit).map((item) => toDocument<T>(item)),
    ...(items.length > limit &&
      last && { next: encodeCursor(range.position.map((name) => textOf(last, name))) }),
  };
}

function rangeQuery(range: Range, prefix: string): RangeQuery {
  return {
    ...(range.index !== undefined && { IndexName: range.index }),
    KeyConditionExpression:
      `${range.partitionName} = :partition` +
      (prefix === "" ? "" : ` AND begins_with(${range.sortName}, :prefix)`),
    ExpressionAttributeValues: {
      ":partition": { S: range.partition },
      ...(prefix !== "" && { ":prefix": { S: prefix } }),
    },
  };
}

/** DynamoDB refuses a position outside of the range, so that is found here. */
function startKey(range: Range, cursor: string, prefix: string): Record<string, AttributeValue> {
  const parts = decodeCursor(cursor, range.position.length);
  if (parts.includes("") || parts[0]?.startsWith(prefix) !== true) {
    throw new SpotterError("invalid_input", "The cursor does not belong to this query.", {
      where: "after",
      hint: "Pass `next` of the previous page unchanged, with the same other options.",
    });
  }
  const named = range.position.map((name, index) => [name, { S: parts[index] ?? "" }] as const);
  return { ...Object.fromEntries(named), [range.partitionName]: { S: range.partition } };
}
