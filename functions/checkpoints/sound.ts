import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Control } from "../control.ts";
import { hashOfBlob } from "../records/hash.ts";
import { update } from "../records/update.ts";
import { checkpointKey, checkpointPrefix, listCheckpoints, type StoredCheckpoint } from "./records.ts";

/**
 * The newest checkpoint whose every file is as it was when it was saved. Newer ones are marked as damaged on
 * the way: they are not listed any more, nobody is given them, and the run may save these steps again.
 */
export async function lastSoundCheckpoint(
  control: Control,
  runId: string,
): Promise<{ sound?: Checkpoint; damaged: string[] }> {
  const damaged: string[] = [];
  for (const checkpoint of (await listCheckpoints(control, runId)).reverse()) {
    const damage = await damageOf(control, checkpoint);
    if (damage === undefined) return { sound: checkpoint, damaged };
    await update<StoredCheckpoint>(control.store, checkpointKey(runId, checkpoint.step), (current) =>
      current?.value.attempt === checkpoint.attempt ? { value: { ...current.value, damage } } : undefined,
    );
    control.log.error("checkpoint is damaged", { checkpoint: checkpoint.id, damage });
    damaged.push(`${checkpoint.id} is damaged: ${damage}`);
  }
  return { damaged };
}

/** What is wrong with the files of a checkpoint; undefined if nothing is. Reads all of them. */
export async function damageOf(control: Control, checkpoint: Checkpoint): Promise<string | undefined> {
  const prefix = checkpointPrefix(checkpoint.runId, checkpoint.step, checkpoint.attempt);
  for (const file of checkpoint.files) {
    const key = `${prefix}/${file.path}`;
    const size = (await control.blobs.head(key))?.size;
    if (size === undefined) return `${file.path} is gone`;
    if (size !== file.size) return `${file.path} has ${size} bytes, not ${file.size}`;
    if ((await hashOfBlob(control.blobs, key)) !== file.sha256) return `${file.path} does not match its hash`;
  }
  return undefined;
}
