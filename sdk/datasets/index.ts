/**
 * What reads, caches and writes dataset files. Loaded when the first row is asked for, so that
 * `import "spotter"` stays small.
 *
 * @module
 */
import type { Row } from "../dataset-rows.ts";
import { localFile } from "./byte-source.ts";
import type { FileFormat } from "./file-format.ts";
import type { HubRows, HubRowsParams } from "./hub-rows.ts";
import { rowSource } from "./row-source.ts";
import type { OutputFormat } from "./write-rows.ts";

/** Rows of a dataset on the hub. */
export async function openHubRows(params: HubRowsParams): Promise<HubRows> {
  return (await import("./hub-rows.ts")).openHubRows(params);
}

/** Writes rows to a file; resolves to their number. */
export async function writeRows(
  path: string,
  rows: AsyncIterable<Row>,
  preferred: OutputFormat | undefined,
): Promise<number> {
  return (await import("./write-rows.ts")).writeRows(path, rows, preferred);
}

/** Rows of a file on this machine. */
export function fileRows(
  path: string,
  columns: readonly string[] | undefined,
  format: FileFormat["rows"] | undefined,
): AsyncIterable<Row> {
  const compression = /\.gz(ip)?$/i.test(path) ? "gzip" : /\.zstd?$/i.test(path) ? "zstd" : undefined;
  const source = rowSource(localFile(path), {
    columns,
    ...(format && { format: { rows: format, ...(compression && { compression }) } }),
  });
  return source.rows(0, Infinity);
}
