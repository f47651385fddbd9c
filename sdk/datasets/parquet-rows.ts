import { parquetMetadataAsync, parquetReadObjects, parquetSchema, type FileMetaData } from "hyparquet";
import { SpotterError } from "../schema/errors.ts";
import { nearestName } from "../schema/nearest-name.ts";
import { invalidRow, placeRow, type Row } from "../dataset-rows.ts";
import { readAll, type ByteSource } from "./byte-source.ts";

export interface ParquetFile {
  count: number;
  /** Reads only the row groups and columns that are asked for, one group at a time. */
  rows(from: number, to: number, columns: readonly string[] | undefined): AsyncIterable<Row>;
}

/** Opens a Parquet file by its footer. */
export async function openParquet(source: ByteSource): Promise<ParquetFile> {
  const byteLength = await source.size();
  const file = {
    byteLength,
    async slice(start: number, end = byteLength) {
      const bytes = await readAll(source, start, Math.min(end, byteLength));
      return bytes.buffer as ArrayBuffer;
    },
  };
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw damaged(source.name, error);
  });
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  return {
    count: Number(metadata.num_rows),
    async *rows(from, to, columns) {
      const wanted = columns === undefined ? undefined : checkColumns(source.name, columns, names);
      const { compressors } = await import("hyparquet-compressors");
      for (const group of groupsOf(metadata)) {
        if (group.end <= from || group.start >= to) continue;
        const rowStart = Math.max(from, group.start);
        const rowEnd = Math.min(to, group.end);
        const read = { file, metadata, compressors, rowStart, rowEnd, ...(wanted && { columns: wanted }) };
        const rows = await parquetReadObjects(read).catch((error: unknown) => {
          throw damaged(`${source.name}: row group ${group.index}`, error);
        });
        if (rows.length !== rowEnd - rowStart)
          throw damaged(`${source.name}: row group ${group.index}`, new Error("rows are missing"));
        for (const [index, row] of rows.entries())
          yield placeRow(plainRow(row), `${source.name}: row ${rowStart + index}`);
      }
    },
  };
}

function* groupsOf(metadata: FileMetaData): Iterable<{ index: number; start: number; end: number }> {
  let start = 0;
  for (const [index, group] of metadata.row_groups.entries()) {
    const end = start + Number(group.num_rows);
    yield { index, start, end };
    start = end;
  }
}

function checkColumns(name: string, wanted: readonly string[], known: readonly string[]): string[] {
  for (const column of wanted) {
    if (known.includes(column)) continue;
    const near = nearestName(column, known);
    throw new SpotterError("dataset_invalid", `${name} has no column "${column}".`, {
      where: "columns",
      hint: near ? `Did you mean "${near}"?` : `Its columns: ${known.join(", ")}.`,
    });
  }
  return [...wanted];
}

function damaged(where: string, cause: unknown): unknown {
  if (SpotterError.is(cause)) return cause;
  return invalidRow(
    where,
    `not valid Parquet: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  );
}

function plainRow(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]));
}

/** Values as JSON can hold them: large integers as text, times as ISO 8601, bytes as Base64. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null) return plainRow(value as Row);
  return value;
}
