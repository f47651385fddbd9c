import type { Overview } from "./views/home-view.ts";
import type { Control } from "../control.ts";
import { listRuns } from "../runs/list.ts";

const SHOWN_RUNS = 100;

/** What the first page lists: the newest runs, and endpoints with those that serve before those that ended. */
export async function readOverview(control: Control): Promise<Overview> {
  const { items } = await listRuns(control, { limit: SHOWN_RUNS });
  await control.routes.load();
  const endpoints = control.routes
    .all()
    .sort((a, b) => rank(a.state) - rank(b.state) || b.createdAtMs - a.createdAtMs);
  return { runs: items, endpoints };
}

function rank(state: string): number {
  return state === "stopped" || state === "failed" ? 1 : 0;
}
