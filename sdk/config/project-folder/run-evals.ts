import type { RunEvalParams } from "../../train-config.ts";
import type { ProjectConfig } from "./config-schema.ts";

type EvalEntry = NonNullable<ProjectConfig["evals"]>[number];

/** `evals:` of a configuration in the words of a run: what is null or absent is as in the eval itself. */
export function runEvalsOf({ evals }: Pick<ProjectConfig, "evals">): RunEvalParams[] {
  return (evals ?? []).map((entry) => {
    const passAt = passChanges(entry);
    return {
      evalId: entry.eval_id,
      everySteps: entry.step,
      ...(entry.name && { name: entry.name }),
      ...(passAt.length > 0 && { passAt }),
    };
  });
}

function passChanges(entry: EvalEntry): NonNullable<RunEvalParams["passAt"]> {
  const keys = [
    { k: 1, enabled: entry.pass1, temperature: entry.pass1_temp },
    { k: 4, enabled: entry.pass4, temperature: entry.pass4_temp },
    { k: 8, enabled: entry.pass8, temperature: entry.pass8_temp },
  ];
  return keys.flatMap(({ k, enabled, temperature }) => {
    const change = { ...(enabled != null && { enabled }), ...(temperature != null && { temperature }) };
    return Object.keys(change).length === 0 ? [] : [{ k, ...change }];
  });
}
