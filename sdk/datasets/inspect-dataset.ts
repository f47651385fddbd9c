import type { Dataset } from "../dataset.ts";
import type { DatasetRow } from "../schema/dataset.ts";
import type { RowTokens } from "./token-counter.ts";

export interface ColumnSummary {
  name: string;
  /** JSON types that occur, most frequent first. */
  types: string[];
  /** Rows where it is missing or null. */
  missing: number;
}

export interface TokenSummary {
  p50: number;
  p95: number;
  max: number;
}

export interface DatasetInspection {
  rows: number;
  columns: ColumnSummary[];
  /** The first rows, as they would be uploaded. */
  head: DatasetRow[];
  promptTokens: TokenSummary;
  /** Only where rows have completions. */
  completionTokens?: TokenSummary;
}

/** Reads a dataset once, row by row; of each row only its counts stay. */
export async function inspectDataset(
  dataset: Dataset,
  count: (row: DatasetRow) => RowTokens,
  headRows: number,
): Promise<DatasetInspection> {
  const types = new Map<string, Map<string, number>>();
  const prompts: number[] = [];
  const completions: number[] = [];
  const head: DatasetRow[] = [];
  for await (const row of dataset.formatted()) {
    if (head.length < headRows) head.push(row);
    for (const [name, value] of Object.entries(row.row)) {
      if (value === null || value === undefined) continue;
      const seen = types.get(name) ?? new Map<string, number>();
      types.set(name, seen.set(typeOf(value), (seen.get(typeOf(value)) ?? 0) + 1));
    }
    const tokens = count(row);
    prompts.push(tokens.prompt);
    if (tokens.completion !== undefined) completions.push(tokens.completion);
  }
  const names = new Set([...types.keys(), ...head.flatMap(({ row }) => Object.keys(row))]);
  return {
    rows: prompts.length,
    columns: [...names].map((name) =>
      columnOf(name, types.get(name) ?? new Map<string, number>(), prompts.length),
    ),
    head,
    promptTokens: summary(prompts),
    ...(completions.length > 0 && { completionTokens: summary(completions) }),
  };
}

function columnOf(name: string, types: ReadonlyMap<string, number>, rows: number): ColumnSummary {
  const sorted = [...types].sort((a, b) => b[1] - a[1]);
  const present = sorted.reduce((sum, [, count]) => sum + count, 0);
  return { name, types: sorted.map(([type]) => type), missing: rows - present };
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

/** Nearest-rank percentiles: numbers that occur. */
function summary(counts: number[]): TokenSummary {
  const sorted = counts.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
