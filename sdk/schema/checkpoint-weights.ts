import type { Checkpoint } from "./checkpoint.ts";

/** Whether a checkpoint has weights that can be served, exported and begun from, and not its trainer's state alone. */
export function hasWeights({ files }: Pick<Checkpoint, "files">): boolean {
  return files.some(({ path }) => path.startsWith("model/"));
}

/** How the weights of a checkpoint that has none stand, in a few words; undefined for one that has some. */
export function weightsText(checkpoint: Pick<Checkpoint, "files" | "conversion">): string | undefined {
  if (hasWeights(checkpoint)) return undefined;
  const { state, failure } = checkpoint.conversion ?? {};
  switch (state) {
    case "queued":
    case "starting":
    case "running":
      return "converting";
    case "failed":
      return `failed: ${failure?.message ?? "nobody knows why"}`;
    default:
      return "missing";
  }
}
