import { refuseWithoutWeights } from "../../sdk/schema/refuse-without-weights.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { UserCodeRef } from "../../sdk/schema/setups.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { runPlan } from "../engines/engines.ts";
import { checkRunEvals } from "../evals/run-evals.ts";
import { checkTrackers } from "../trackers/sinks.ts";
import { checkWebhooks } from "../webhooks/deliveries.ts";

/**
 * Everything that a run names is there: evals, a checkpoint, and the secrets of its code, webhooks and trackers. What
 * has to be sent here first, rows and code, is not looked at.
 */
export async function checkNamed(control: Control, spec: RunSpec): Promise<void> {
  await checkRunEvals(control, spec);
  if (spec.evalEvery !== null && !spec.evalDataset) {
    throw new SpotterError("invalid_input", "evalEvery is set, but there is no evalDataset.", {
      where: "evalEvery",
      hint: "Give an evalDataset, or leave evalEvery out.",
    });
  }
  const secrets = new Set(codeOf(spec).flatMap((code) => code.secrets));
  if (secrets.size > 0) await control.secrets.resolve([...secrets]);
  if (spec.webhooks) await checkWebhooks(control, spec.webhooks);
  if (spec.trackers) await checkTrackers(control, spec.trackers);
  if (spec.startFrom) await checkStart(control, spec, spec.startFrom.checkpoint);
}

function codeOf({ rewards, tools, python, environments = [] }: RunSpec): UserCodeRef[] {
  return [rewards, tools, python, ...environments].flatMap((setup) => (setup ? [setup.code] : []));
}

async function checkStart(control: Control, spec: RunSpec, id: string): Promise<void> {
  const checkpoint = await getCheckpoint(control, id);
  if (checkpoint.model.name !== spec.model.name) {
    throw new SpotterError(
      "checkpoint_mismatch",
      `Checkpoint ${id} was trained from ${checkpoint.model.name}, not from ${spec.model.name}.`,
      { where: "startFrom.checkpoint", hint: `Train it on with the model ${checkpoint.model.name}.` },
    );
  }
  if (spec.startFrom?.mode === "weights" || spec.engine === "onnx")
    refuseWithoutWeights(checkpoint, "startFrom.checkpoint");
  // Told now, what its container would find out when it is up.
  runPlan(spec, checkpoint);
}
