import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Run, UpdateRun } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import { changeRun, getRun, shownRun } from "./records.ts";
import { isTerminalRun } from "./transitions.ts";

/** Changes what people say about a run; how it goes on is not touched. */
export async function updateRun(control: Control, id: string, update: UpdateRun): Promise<Run> {
  await getRun(control, id);
  const document = await changeRun(control, id, (current) => {
    const { name, notes, archived, ...run } = current.run;
    const next = { name, notes, archived, ...update };
    if (next.archived && !archived && !isTerminalRun(run.state)) throw stillGoing(current.run);
    return {
      document: {
        ...current,
        run: {
          ...run,
          ...(next.name && { name: next.name }),
          ...(next.notes && { notes: next.notes }),
          ...(next.archived && { archived: true }),
          tags: update.tags === undefined ? run.tags : [...new Set(update.tags)],
        },
      },
    };
  });
  return shownRun(document ?? (await getRun(control, id)), control.clock.now());
}

function stillGoing(run: Run): SpotterError {
  return new SpotterError(
    "conflict",
    `The run ${run.id} is ${run.state}; only one that has ended can be archived.`,
    {
      where: run.id,
      hint: `Wait for its end, or cancel it: spotter run cancel ${run.id}`,
    },
  );
}
