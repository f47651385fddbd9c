import { EvalRun } from "../eval-run.ts";
import { Run } from "../run.ts";
import { SpotterError } from "../schema/errors.ts";

/** The run of an id, or the newest one where none was named. */
export async function runOrNewest(id: string | undefined, signal: AbortSignal): Promise<Run> {
  if (id !== undefined) return Run.get(id, { signal });
  const [newest] = await Run.list({ limit: 1, signal });
  if (newest !== undefined) return Run.get(newest.id, { signal });
  throw new SpotterError("not_found", "There are no runs yet.", {
    where: "id",
    hint: "Trainings start from scripts, see README.md; `npm run demo` shows one.",
  });
}

/** The eval of an id, or the newest one where none was named. */
export async function evalOrNewest(id: string | undefined, signal: AbortSignal): Promise<EvalRun> {
  if (id !== undefined) return EvalRun.get(id, { signal });
  const [newest] = await EvalRun.list({ limit: 1, signal });
  if (newest !== undefined) return newest;
  throw new SpotterError("not_found", "There are no evals yet.", {
    where: "id",
    hint: "Start one: see `spotter eval launch --help`.",
  });
}
