import type { Document, QueryOptions, QueryPage } from "../../ports/store.ts";
import { checkLimit, checkPart } from "../../ports/store-keys.ts";
import { decodeCursor, encodeCursor } from "../../ports/store-values.ts";
import type { Connection, Row } from "./connection.ts";
import { decodeValue } from "./values.ts";

/** No UTF-8 text has this byte, so it sorts behind everything that begins with a prefix. */
const BEHIND = "CAST(x'ff' AS TEXT)";

/** Documents of one partition. */
export function queryPartition<T>(
  connection: Connection,
  partition: string,
  options: QueryOptions,
): QueryPage<T> {
  checkPart("partition", partition);
  const range = rangeOf(["sort"], options);
  const rows = connection.all(
    `SELECT partition, sort, version, value, crc FROM documents WHERE partition = ? AND ${range.sql} LIMIT ?`,
    partition,
    ...range.values,
    range.limit + 1,
  );
  return page(rows, range.limit, (row) => [String(row["sort"])]);
}

/** Documents of one partition of an index, by the sort text of their entries. */
export function queryEntries<T>(
  connection: Connection,
  index: string,
  partition: string,
  options: QueryOptions,
): QueryPage<T> {
  checkPart("index", index);
  checkPart("partition", partition);
  const range = rangeOf(["e.index_sort", "e.partition", "e.sort"], options);
  // CROSS JOIN keeps SQLite from walking the documents first.
  const rows = connection.all(
    `SELECT e.index_sort, e.partition, e.sort, d.version, d.value, d.crc
     FROM entries e CROSS JOIN documents d ON d.partition = e.partition AND d.sort = e.sort
     WHERE e.name = ? AND e.index_partition = ? AND ${range.sql} LIMIT ?`,
    index,
    partition,
    ...range.values,
    range.limit + 1,
  );
  return page(rows, range.limit, (row) => [
    String(row["index_sort"]),
    String(row["partition"]),
    String(row["sort"]),
  ]);
}

export function countEntries(connection: Connection, index: string, partition: string): number {
  checkPart("index", index);
  checkPart("partition", partition);
  const row = connection.get(
    "SELECT count(*) AS entries FROM entries WHERE name = ? AND index_partition = ?",
    index,
    partition,
  );
  return Number(row?.["entries"] ?? 0);
}

export function toDocument<T>(row: Row): Document<T> {
  const key = { partition: String(row["partition"]), sort: String(row["sort"]) };
  return {
    key,
    value: decodeValue(row["value"], row["crc"], `${key.partition}/${key.sort}`) as T,
    version: Number(row["version"]),
  };
}

/**
 * One lower and one upper bound: SQLite uses no more than that of an index, and a second lower bound
 * would make it walk all earlier pages again. A cursor replaces the bound that it is tighter than.
 */
function rangeOf(columns: readonly [string, ...string[]], options: QueryOptions) {
  const limit = checkLimit(options.limit);
  const prefix = options.sortPrefix ?? "";
  const order = columns.map((column) => `${column} ${options.reverse === true ? "DESC" : "ASC"}`).join(", ");
  let lower = `${columns[0]} >= ?`;
  let upper = `${columns[0]} < ? || ${BEHIND}`;
  let values: [string[], string[]] = [[prefix], [prefix]];
  if (options.after !== undefined) {
    const cursor = decodeCursor(options.after, columns.length);
    const tuple = `(${columns.join(", ")})`;
    const marks = `(${columns.map(() => "?").join(", ")})`;
    if (options.reverse === true) {
      upper = `${tuple} < ${marks}`;
      values = [[prefix], cursor];
    } else {
      lower = `${tuple} > ${marks}`;
      values = [cursor, [prefix]];
    }
  }
  return { sql: `${lower} AND ${upper} ORDER BY ${order}`, values: values.flat(), limit };
}

function page<T>(rows: Row[], limit: number, cursorOf: (row: Row) => string[]): QueryPage<T> {
  const items = rows.slice(0, limit).map((row) => toDocument<T>(row));
  const last = rows[limit - 1];
  return rows.length > limit && last !== undefined
    ? { items, next: encodeCursor(cursorOf(last)) }
    : { items };
}
