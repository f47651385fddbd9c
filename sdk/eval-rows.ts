import { pageOf } from "./schema/common.ts";
import { evalComparison, type EvalComparison } from "./schema/eval-comparison.ts";
import { evalRow, type EvalRow } from "./schema/eval-row.ts";
import type { Client } from "./client.ts";

/** Every conversation of an eval, by row and sample. */
export async function readRows(
  client: Client,
  path: string,
  signal: AbortSignal | undefined,
): Promise<EvalRow[]> {
  const rows = new Map<string, EvalRow>();
  let after: string | undefined;
  do {
    const page = await client.request(pageOf(evalRow), "GET", path, {
      query: { after, limit: 1_000 },
      signal,
    });
    for (const row of page.items) {
      // The word of a container that was given up may have come late: the first one counts.
      const key = `${row.row}/${row.sample}`;
      if (!rows.has(key)) rows.set(key, row);
    }
    after = page.next;
  } while (after !== undefined);
  return [...rows.values()].sort((a, b) => a.row - b.row || a.sample - b.sample);
}

export function readComparison(
  client: Client,
  path: string,
  signal: AbortSignal | undefined,
): Promise<EvalComparison> {
  return client.request(evalComparison, "GET", path, { signal });
}
