import { weightsText } from "./checkpoint-weights.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { SpotterError } from "./errors.ts";

/** @throws SpotterError `weights_missing` for a checkpoint that has none, with what to do about it. */
export function refuseWithoutWeights(
  checkpoint: Pick<Checkpoint, "id" | "runId" | "files" | "conversion">,
  where: string,
): void {
  const text = weightsText(checkpoint);
  if (text === undefined) return;
  const { id, runId } = checkpoint;
  const isComing = text === "converting";
  throw new SpotterError(
    "weights_missing",
    isComing
      ? `The weights of checkpoint ${id} are still being converted.`
      : `Checkpoint ${id} has no Hugging Face weights (${text}).`,
    {
      where,
      hint: isComing
        ? `Try again when \`spotter checkpoint list ${runId}\` has them.`
        : `Have them made: \`spotter checkpoint convert ${id}\`.`,
    },
  );
}
