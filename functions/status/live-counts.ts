import type { Control } from "../control.ts";

/** How many runs and evals have not ended, and how many endpoints are or are becoming alive. */
export async function liveCounts(control: Control): Promise<{ works: number; endpoints: number }> {
  const [runs, evals, endpoints] = await Promise.all(
    ["runs", "evals", "endpoints"].map((partition) =>
      control.store.queryIndex("live", partition, { limit: 1000 }),
    ),
  );
  return {
    works: (runs?.items.length ?? 0) + (evals?.items.length ?? 0),
    endpoints: endpoints?.items.length ?? 0,
  };
}
