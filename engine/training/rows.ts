import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { datasetRow, type DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseExactly } from "../../sdk/schema/exact-json.ts";

/**
 * Reads stored dataset rows (JSONL, one a line); whole numbers too large for JavaScript are passed on digit for digit.
 *
 * @throws SpotterError `dataset_invalid` with the line, or `dataset_empty`.
 */
export async function readRows(file: string, name: string): Promise<DatasetRow[]> {
  const lines = (await readFile(file, "utf8")).split("\n");
  const rows = lines.flatMap((line, index) => (line.trim() === "" ? [] : [parseRow(line, name, index + 1)]));
  if (rows.length > 0) return rows;
  throw new SpotterError("dataset_empty", `${name} has no rows.`, {
    where: name,
    hint: "Add at least one row.",
  });
}

function parseRow(line: string, name: string, number: number): DatasetRow {
  const where = `${name}:${number}`;
  let value: unknown;
  try {
    value = parseExactly(line);
  } catch (cause) {
    throw new SpotterError("dataset_invalid", `${where} is not JSON.`, {
      where,
      cause,
      hint: "Write one JSON object a line.",
    });
  }
  const parsed = z.safeParse(datasetRow, value);
  if (parsed.success) return parsed.data;
  const findings = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new SpotterError("dataset_invalid", `${where} cannot be used: ${findings}.`, {
    where,
    hint: "A row has `prompt` (messages), `row`, and `completion` for sft.",
  });
}
