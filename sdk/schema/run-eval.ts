import * as z from "zod/mini";
import { displayName, positiveInt } from "./common.ts";
import { passChange } from "./pass-at.ts";

/** A run-dependent eval: what was evaluated before is evaluated again with the run's own checkpoints. */
export const runEval = z.strictObject({
  /** Id of an eval: its rows, code and settings are used. */
  evalId: z.string().check(z.minLength(1), z.maxLength(200)),
  /** At every so many steps a checkpoint is saved and evaluated. */
  everySteps: positiveInt,
  /** What its metrics are called. Absent: the first 8 characters of the id. */
  name: z.optional(displayName),
  /** Where it measures otherwise than the eval itself. */
  passAt: z.optional(z.array(passChange).check(z.maxLength(20))),
});
export type RunEval = z.infer<typeof runEval>;

export const runEvals = z.array(runEval).check(
  z.minLength(1),
  z.maxLength(20),
  z.refine((evals) => new Set(evals.map(labelOf)).size === evals.length, {
    message: "two would log the same metrics; give each a name of its own",
  }),
);

/** What the metrics of a run-dependent eval begin with. */
export function labelOf({ name, evalId }: Pick<RunEval, "name" | "evalId">): string {
  return name ?? evalId.slice(0, 8);
}

/** Whether a checkpoint of this step is evaluated. */
export function isEvaluated(
  evals: readonly Pick<RunEval, "everySteps">[] | undefined,
  step: number,
): boolean {
  return evals?.some(({ everySteps }) => step % everySteps === 0) ?? false;
}
