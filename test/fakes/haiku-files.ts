import { parquetWriteBuffer } from "hyparquet-writer";

export function words(count: number, first = 0): { keywords: string; text: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    keywords: `topic ${first + index}`,
    text: `haiku ${first + index}`,
  }));
}

export function jsonl(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

export function parquet(rows: readonly { keywords: string; text: string }[], rowGroupSize = 10): Uint8Array {
  const columns = (["keywords", "text"] as const).map((name) => ({
    name,
    data: rows.map((row) => row[name]),
    type: "STRING" as const,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData: columns, rowGroupSize }));
}
