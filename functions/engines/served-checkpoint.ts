import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Control } from "../control.ts";
import { getRunSpec } from "../runs/records.ts";
import type { ServedCheckpoint } from "./engines.ts";

/** What an engine has to know of a checkpoint that it serves. The rank of an adapter is that of its run. */
export async function servedCheckpoint(
  control: Control,
  { kind, runId }: Checkpoint,
): Promise<ServedCheckpoint> {
  if (kind === "full") return { kind };
  const { adapter } = await getRunSpec(control, runId);
  return adapter.kind === "lora" ? { kind, loraRank: adapter.rank } : { kind };
}
