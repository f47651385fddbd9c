import type { CleanupItem, CleanupReport, CleanupRequest } from "../../sdk/schema/cleanup.ts";
import type { Control } from "../control.ts";
import { planCleanup, type Removal } from "./plan.ts";

/** Removals in one turn: what begins meanwhile waits no longer than these take. */
const PER_TURN = 50;

/**
 * Removes what nobody needs: see {@link planCleanup}. What is in use, and what begins to be used while this
 * works, stays. Doing it again finds nothing more.
 */
export async function cleanUp(control: Control, request: CleanupRequest): Promise<CleanupReport> {
  if (request.dryRun)
    return report(
      request,
      (await planCleanup(control, request)).map(({ item }) => item),
    );
  const removed: CleanupItem[] = [];
  let plan: Removal[] = [];
  let plannedAt: number | undefined;
  do {
    await control.gate.remove(async () => {
      // Whatever began since may need what was judged as unused.
      if (plannedAt !== control.gate.begun) plan = await planCleanup(control, request);
      plannedAt = control.gate.begun;
      for (const { item, remove } of plan.splice(0, PER_TURN)) {
        await remove();
        removed.push(item);
      }
    });
  } while (plan.length > 0);
  const { items, bytes } = report(request, removed);
  control.log.info("cleaned up", { items: items.length, bytes });
  return { dryRun: false, items, bytes };
}

function report({ dryRun }: CleanupRequest, items: CleanupItem[]): CleanupReport {
  return { dryRun, items, bytes: items.reduce((sum, { bytes }) => sum + bytes, 0) };
}
