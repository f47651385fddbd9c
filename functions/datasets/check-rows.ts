import { datasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";

const NEWLINE = 10;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** What a dataset body turned out to be; filled in while it streams through. */
export interface RowCount {
  rows: number;
  bytes: number;
}

/** Passes a JSONL body on unchanged and checks every line; the first bad one ends it with its number. */
export function checkRows(count: RowCount): TransformStream<Uint8Array, Uint8Array> {
  let rest: Uint8Array[] = [];
  let line = 0;
  return new TransformStream({
    transform(chunk, controller) {
      count.bytes += chunk.byteLength;
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        checkLine(join(rest, chunk.subarray(start, end)), ++line, count);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.byteLength) rest.push(chunk.slice(start));
      if (rest.reduce((sum, part) => sum + part.byteLength, 0) > MAX_LINE_BYTES)
        throw invalid(line + 1, "is longer than 16 MiB");
      controller.enqueue(chunk);
    },
    flush() {
      if (rest.length > 0) checkLine(join(rest, new Uint8Array()), ++line, count);
      if (count.rows > 0) return;
      throw new SpotterError("dataset_empty", "The dataset has no rows.", {
        hint: "Check the file, the split and the filter that the rows come from.",
      });
    },
  });
}

function checkLine(bytes: Uint8Array, line: number, count: RowCount): void {
  const text = decode(bytes, line);
  if (text.trim() === "") return;
  parseWith(datasetRow, parseJson(text, line), `Dataset line ${line}`, {
    code: "dataset_invalid",
    where: `line ${line}`,
    hint: "A line is { prompt: messages[], completion?, row: {...} }; the SDK writes them.",
  });
  count.rows++;
}

function decode(bytes: Uint8Array, line: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(line, "is not UTF-8", cause);
  }
}

function parseJson(text: string, line: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid(line, "is not JSON", cause);
  }
}

function invalid(line: number, what: string, cause?: unknown): SpotterError {
  return new SpotterError("dataset_invalid", `Dataset line ${line} ${what}.`, {
    where: `line ${line}`,
    hint: "Send one JSON object a line.",
    cause,
  });
}

function join(parts: Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}
