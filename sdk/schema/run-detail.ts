import { runSpec } from "./run-spec.ts";
import { runDetailOf } from "./run.ts";

/** A run's record as the control plane answers it. */
export const runDetail = runDetailOf(runSpec);
