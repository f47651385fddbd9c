import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeFolder } from "../schema/files/make-folder.ts";
import { SpotterError } from "../schema/errors.ts";
import { invalidRow, placeOf, type Row } from "../dataset-rows.ts";
import { jsonFault } from "../json-fault.ts";
import { formatOf } from "./file-format.ts";
import { localFile } from "./byte-source.ts";
import { jsonLines } from "./json-rows.ts";
import { ColumnTypes } from "./column-types.ts";
import { textOf } from "./text-lines.ts";

/** Rows of a Parquet row group: what a reader of a slice has to fetch, and a writer holds in memory. */
const GROUP_ROWS = 1_000;

export type OutputFormat = "jsonl" | "parquet";

/**
 * Writes rows as JSONL or Parquet, as the name's ending says, else as `preferred`. Row by row; the file is
 * there as a whole or not at all. Resolves to the number of rows.
 *
 * @throws SpotterError `invalid_input`, `dataset_empty`, `disk_full`
 */
export async function writeRows(
  path: string,
  rows: AsyncIterable<Row>,
  preferred: OutputFormat | undefined,
): Promise<number> {
  const format = outputFormat(path, preferred);
  await makeFolder(dirname(path)).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  const spool = `${path}.${randomUUID()}.jsonl.part`;
  const partial = `${path}.${randomUUID()}.part`;
  const types = new ColumnTypes();
  let count = 0;
  async function* lines(): AsyncIterable<string> {
    for await (const row of rows) {
      types.add(row);
      count++;
      yield lineOf(row, count);
    }
  }
  try {
    await pipeline(Readable.from(lines()), createWriteStream(spool));
    if (count === 0)
      throw new SpotterError("dataset_empty", `There are no rows to write to ${path}.`, { where: path });
    // Parquet must know all columns before the first row: JSONL is the way station.
    if (format === "parquet") await writeParquet(partial, spool, types);
    await rename(format === "parquet" ? partial : spool, path);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    await rm(spool, { force: true });
    await rm(partial, { force: true });
  }
  return count;
}

/** Readers go as deep as a file does, JSON only as deep as there is room. */
function lineOf(row: Row, number: number): string {
  try {
    return `${JSON.stringify(row)}\n`;
  } catch (error) {
    const fault = jsonFault(row);
    if (!fault) throw error;
    throw invalidRow(placeOf(row) ?? `row ${number}`, `the column "${fault.path}" ${fault.why}`);
  }
}

async function writeParquet(path: string, spool: string, types: ColumnTypes): Promise<void> {
  const { fileWriter, parquetWriteRows } = await import("hyparquet-writer");
  await parquetWriteRows({
    writer: fileWriter(path),
    rows: jsonLines(textOf(localFile(spool).read(), spool), spool),
    columns: types.columns(),
    rowGroupSize: GROUP_ROWS,
  });
}

function outputFormat(path: string, preferred: OutputFormat | undefined): OutputFormat {
  const named = formatOf(path);
  const isPlain = named?.compression === undefined;
  if (named === undefined && !/\.[A-Za-z]\w*$/.test(path)) return preferred ?? "jsonl";
  const format = named?.rows;
  if (isPlain && (format === "jsonl" || format === "parquet") && (preferred ?? format) === format)
    return format;
  throw new SpotterError(
    "invalid_input",
    `${path} is not a name for ${preferred ?? "jsonl or parquet"} rows.`,
    {
      where: path,
      hint: `Name it .${preferred ?? "jsonl or .parquet"}.`,
    },
  );
}

/** Errors of the file system in our form; everything else as it is. */
function unwritable(path: string, error: unknown): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (code === undefined || syscall === undefined) return error;
  return new SpotterError(
    code === "ENOSPC" ? "disk_full" : "invalid_input",
    `Cannot write ${path}: ${code}.`,
    { where: path, hint: code === "ENOSPC" ? "Make room." : "Choose another folder.", cause: error },
  );
}
