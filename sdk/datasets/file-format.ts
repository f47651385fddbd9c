import { SpotterError } from "../schema/errors.ts";

export type RowFormat = "jsonl" | "json" | "csv" | "tsv" | "parquet";

export interface FileFormat {
  rows: RowFormat;
  compression?: "gzip" | "zstd";
}

const BY_ENDING: Record<string, RowFormat> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "json",
  csv: "csv",
  tsv: "tsv",
  parquet: "parquet",
};
const COMPRESSIONS: Record<string, "gzip" | "zstd"> = { gz: "gzip", gzip: "gzip", zst: "zstd", zstd: "zstd" };

/** What a file's name says is in it; undefined for files that hold no rows. */
export function formatOf(path: string): FileFormat | undefined {
  const endings = (path.split("/").at(-1) ?? "").toLowerCase().split(".").slice(1);
  const compression = COMPRESSIONS[endings.at(-1) ?? ""];
  const rows = BY_ENDING[endings.at(compression === undefined ? -1 : -2) ?? ""];
  // Parquet compresses its own pages, and its footer must be found without unpacking the rest.
  if (rows === undefined || (rows === "parquet" && compression !== undefined)) return undefined;
  return { rows, ...(compression === undefined ? {} : { compression }) };
}

export function requireFormat(path: string): FileFormat {
  const format = formatOf(path);
  if (format !== undefined) return format;
  throw new SpotterError("dataset_invalid", `${path} is no dataset file by its name.`, {
    where: path,
    hint: "Name it .jsonl, .json, .csv, .tsv (each also .gz or .zst) or .parquet.",
  });
}
