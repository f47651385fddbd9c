import type { Run } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import { changeRun, getRun, shownRun } from "./records.ts";
import { isTerminalRun } from "./transitions.ts";

/** Asks a run to save and end. A run that has ended stays as it is. */
export async function cancelRun(control: Control, id: string): Promise<Run> {
  await getRun(control, id);
  const document = await changeRun(control, id, (current) => {
    if (isTerminalRun(current.run.state) || current.run.cancelRequested) return undefined;
    const run = { ...current.run, cancelRequested: true };
    return { document: { ...current, run, cancelAtMs: control.clock.now() } };
  });
  control.wake();
  return shownRun(document ?? (await getRun(control, id)), control.clock.now());
}
