import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { beginCheckpointConversion } from "./run-conversions.ts";

/** Has the Hugging Face weights of a checkpoint made that has none. One that has them stays as it is. */
export function convertCheckpoint(control: Control, id: string): Promise<Checkpoint> {
  return control.gate.begin(async () => {
    const checkpoint = await getCheckpoint(control, id);
    if (hasWeights(checkpoint)) return checkpoint;
    await beginCheckpointConversion(control, checkpoint, true);
    return getCheckpoint(control, id);
  });
}
