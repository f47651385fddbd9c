import { createReadStream } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SpotterError } from "./schema/errors.ts";
import { Dataset, invalidRow, isRow, placeRow, type DatasetParams, type Row } from "./dataset.ts";

/**
 * Rows from a file with one JSON object a line. Blank lines are skipped; bad ones are named with their number.
 *
 * @example
 * new JsonlDataset(new URL("train.jsonl", import.meta.url), {
 *   inputColumn: "keywords",
 *   promptTemplate: "Write a haiku about {input}.",
 * });
 */
export class JsonlDataset extends Dataset {
  readonly file: string;

  constructor(file: string | URL, params: DatasetParams = {}) {
    const path = resolve(file instanceof URL ? fileURLToPath(file) : file);
    super({ ...params, name: params.name ?? basename(path) });
    this.file = path;
  }

  override async *rows(): AsyncIterable<Row> {
    let number = 0;
    for await (const line of linesOf(this.file)) {
      number++;
      if (line.trim() === "") continue;
      yield placeRow(parseRow(line, `${this.file}:${number}`), `${this.file}:${number}`);
    }
  }
}

function parseRow(line: string, where: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw invalidRow(
      where,
      `not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
  if (!isRow(value)) throw invalidRow(where, "a row must be a JSON object with named columns");
  return value;
}

/** Lines end with \n only: node:readline would also split at U+2028, which JSON strings may hold. */
async function* linesOf(file: string): AsyncIterable<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  try {
    for await (const chunk of createReadStream(file)) {
      rest += decoder.decode(chunk as Uint8Array, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    rest += decoder.decode();
  } catch (cause) {
    throw unreadable(file, cause);
  }
  if (rest !== "") yield rest;
}

function unreadable(file: string, cause: unknown): unknown {
  const code = (cause as { code?: string }).code;
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return invalidRow(file, "the file is not UTF-8", cause);
  if (code === undefined || SpotterError.is(cause)) return cause;
  return new SpotterError("dataset_invalid", `Cannot read ${file}: ${code}.`, {
    where: file,
    hint: "Check the path and that you may read it.",
    cause,
  });
}
