import type { Row } from "../dataset-rows.ts";
import type { ByteSource } from "./byte-source.ts";
import { decompressed } from "./decompress.ts";
import { requireFormat, type FileFormat } from "./file-format.ts";
import { jsonArrayOrLines, jsonLines } from "./json-rows.ts";
import type { ParquetFile } from "./parquet-rows.ts";
import { textOf } from "./text-lines.ts";

/** The rows of one file. */
export interface RowSource {
  name: string;
  /** Whether `count` reads no rows. */
  knowsCount: boolean;
  count(): Promise<number>;
  /** Rows from `from` up to, not including, `to`; reading stops there. */
  rows(from: number, to: number): AsyncIterable<Row>;
}

export interface RowSourceParams {
  /** Columns to keep; all by default. */
  columns?: readonly string[] | undefined;
  /** Default: what the name says. */
  format?: FileFormat;
  /** Called before a file is read twice, for those that are better copied first. */
  localise?: (() => Promise<ByteSource>) | undefined;
}

export function rowSource(bytes: ByteSource, params: RowSourceParams = {}): RowSource {
  const format = params.format ?? requireFormat(bytes.name);
  return format.rows === "parquet" ? parquetSource(bytes, params) : textSource(bytes, format, params);
}

/** A window on several files that follow one another. */
export async function* rowsBetween(
  sources: readonly RowSource[],
  from: number,
  to: number,
): AsyncIterable<Row> {
  let start = 0;
  for (const source of sources) {
    if (start >= to) return;
    if (source.knowsCount) {
      const count = await source.count();
      if (start + count > from) yield* source.rows(Math.max(0, from - start), Math.min(count, to - start));
      start += count;
      continue;
    }
    let seen = 0;
    for await (const row of source.rows(0, to - start)) if (start + seen++ >= from) yield row;
    start += seen;
  }
}

function parquetSource(bytes: ByteSource, { columns }: RowSourceParams): RowSource {
  let opened: Promise<ParquetFile> | undefined;
  const open = () => (opened ??= import("./parquet-rows.ts").then(({ openParquet }) => openParquet(bytes)));
  return {
    name: bytes.name,
    knowsCount: true,
    count: async () => (await open()).count,
    async *rows(from, to) {
      yield* (await open()).rows(from, to, columns);
    },
  };
}

function textSource(
  bytes: ByteSource,
  format: FileFormat,
  { columns, localise }: RowSourceParams,
): RowSource {
  let source = bytes;
  return {
    name: bytes.name,
    knowsCount: false,
    async count() {
      if (localise) source = await localise();
      let count = 0;
      for await (const _ of parsed(source, format)) count++;
      return count;
    },
    async *rows(from, to) {
      let index = 0;
      if (to <= from) return;
      for await (const row of parsed(source, format)) {
        if (index++ >= from) yield columns === undefined ? row : picked(row, columns);
        if (index >= to) return;
      }
    },
  };
}

async function* parsed(source: ByteSource, format: FileFormat): AsyncIterable<Row> {
  const { name } = source;
  const text = textOf(decompressed(source.read(), format.compression, name), name);
  if (format.rows === "jsonl") yield* jsonLines(text, name);
  else if (format.rows === "json") yield* jsonArrayOrLines(text, name);
  else {
    const { csvRows } = await import("./csv-rows.ts");
    yield* csvRows(text, name, format.rows === "tsv" ? "\t" : ",");
  }
}

/** Places are remembered by the row object itself, so columns are taken out of it, not copied. */
function picked(row: Row, columns: readonly string[]): Row {
  for (const name of Object.keys(row)) if (!columns.includes(name)) delete row[name];
  return row;
}
