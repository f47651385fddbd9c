import { existsSync } from "node:fs";
import { SpotterError } from "../../sdk/schema/errors.ts";

/**
 * What a failure means once the container's scratch folder was taken away: nothing was wrong with the work,
 * and another container with a folder of its own can go on. Every other error stays what it is.
 */
export function scratchLoss(error: unknown, workDir: string): unknown {
  if (existsSync(workDir) && !missesFileIn(error, workDir)) return error;
  return new SpotterError("container_failed", `The scratch folder ${workDir} was removed during the work.`, {
    where: workDir,
    hint: "Exclude the state folder from whatever cleans up. The work goes on from its last checkpoint.",
    retryable: true,
    cause: error,
  });
}

/** By its text as well: errors of the engine's thread arrive without the system's code. */
function missesFileIn(error: unknown, workDir: string): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each.message.includes("ENOENT") && each.message.includes(workDir)) return true;
  return false;
}
