import * as z from "zod/mini";
import { evalRecord, evalRollout, evalSettings } from "./eval.ts";
import { answersPerRow } from "./pass-at.ts";
import { datasetRef, environmentSetup, pythonSetup, rewardSetup, toolSetup } from "./setups.ts";

/** What `new Eval({...}).launch()` sends: every row is answered `samplesPerRow` times and judged. */
export const launchEval = z
  .strictObject({
    ...evalSettings,
    /** Name of the endpoint to ask. */
    endpoint: z.string(),
    dataset: datasetRef,
    rewards: z.optional(rewardSetup),
    tools: z.optional(toolSetup),
    python: z.optional(pythonSetup),
    environments: z.optional(z.array(environmentSetup).check(z.minLength(1), z.maxLength(100))),
    rollout: z.prefault(evalRollout, {}),
  })
  .check(
    z.refine(
      ({ rewards, python, environments }) => (rewards ?? python?.rewards ?? environments) !== undefined,
      { path: ["rewards"], message: "missing; an eval needs at least one reward, or an environment" },
    ),
    z.refine(({ rewards, python }) => rewards === undefined || python?.rewards === undefined, {
      path: ["python", "rewards"],
      message: "judge as well as rewards; write all rewards in one language",
    }),
    z.refine(({ passAt: passes }) => new Set(passes.map(({ k }) => k)).size === passes.length, {
      path: ["passAt"],
      message: "names a k twice",
    }),
    z.refine(({ passAt: passes, samplesPerRow }) => passes.every(({ k }) => k <= samplesPerRow), {
      path: ["samplesPerRow"],
      message: "is less than a k of passAt: pass@k needs at least k answers to each row",
    }),
  );
export type LaunchEval = z.infer<typeof launchEval>;
export type LaunchEvalInput = z.input<typeof launchEval>;

/** How many conversations an eval plays. */
export function totalAnswers(spec: Pick<LaunchEval, "dataset" | "passAt" | "samplesPerRow">): number {
  return spec.dataset.rows * answersPerRow(spec);
}

/** An eval as the control plane answers it. */
export const evalDetail = z.extend(evalRecord, { spec: launchEval });
