import type { Control } from "../control.ts";
import { collect } from "../records/update.ts";
import { RUNS, type RunDocument } from "../runs/records.ts";

/** How many runs and evals have work to do, and how many endpoints are or are becoming alive. */
export async function liveCounts(control: Control): Promise<{ works: number; endpoints: number }> {
  const live = <T>(partition: string) =>
    collect<T>((after) => control.store.queryIndex<T>("live", partition, { after, limit: 1000 }));
  const [runs, evals, endpoints] = await Promise.all([
    live<RunDocument>(RUNS),
    live("evals"),
    live("endpoints"),
  ]);
  // A paused run waits for people: nothing needs to be kept up for it.
  const active = runs.filter(({ run }) => run.state !== "paused");
  return { works: active.length + evals.length, endpoints: endpoints.length };
}
