import { FileDataset } from "./dataset.ts";

/**
 * Rows from a file with one JSON object a line, whatever its name is. Blank lines are skipped; bad ones are
 * named with their number.
 *
 * @example
 * new JsonlDataset(new URL("train.jsonl", import.meta.url), {
 *   inputColumn: "keywords",
 *   promptTemplate: "Write a haiku about {input}.",
 * });
 */
export class JsonlDataset extends FileDataset {
  protected override get rowFormat(): "jsonl" | undefined {
    return /\.(json|csv|tsv|parquet)(\.\w+)?$/i.test(this.file) ? undefined : "jsonl";
  }
}
