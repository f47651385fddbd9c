import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { invalidRow, placeRow, type Row } from "../dataset-rows.ts";

/** Rows of a table whose first line names the columns. Cells are text, as they stand (RFC 4180). */
export async function* csvRows(
  text: AsyncIterable<string>,
  name: string,
  delimiter: "," | "\t",
): AsyncIterable<Row> {
  const source = Readable.from(text);
  // Without a header the parser would stay silent; two columns of one name would hide each other.
  const parser = parse({ delimiter, columns: (header: string[]) => unique(header, name), info: true });
  source.once("error", (error) => parser.destroy(error));
  try {
    for await (const record of source.pipe(parser)) {
      const { record: row, info } = record as { record: Row; info: { lines: number } };
      yield placeRow({ ...row }, `${name}:${info.lines}`);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { lines?: number };
    throw invalidRow(`${name}:${lines ?? 1}`, `not valid CSV: ${error.message}`, error);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

function unique(header: string[], name: string): string[] {
  const doubled = header.find((column, index) => header.indexOf(column) !== index);
  if (doubled === undefined) return header;
  throw invalidRow(`${name}:1`, `two columns are named "${doubled}"`);
}
