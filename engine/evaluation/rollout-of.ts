import * as z from "zod/mini";
import type { LaunchEval } from "../../sdk/schema/launch-eval.ts";
import { rolloutSpec, type RunSpec } from "../../sdk/schema/run-spec.ts";

/** How conversations are played, in the words of a run: what an eval does not say is as there. */
export function rolloutOf({ rollout }: Pick<LaunchEval, "rollout">): RunSpec["rollout"] {
  return z.parse(rolloutSpec, rollout);
}
