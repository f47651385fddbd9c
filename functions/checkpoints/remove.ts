import { SpotterError } from "../../sdk/schema/errors.ts";
import { usedCheckpoints } from "../cleanup/references.ts";
import type { Control } from "../control.ts";
import { update } from "../records/update.ts";
import { findRun } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import {
  checkpointKey,
  checkpointPrefix,
  findStoredCheckpoint,
  getCheckpoint,
  listCheckpoints,
  type StoredCheckpoint,
} from "./records.ts";

/** Pinned ones stay, whatever the retention of their run and `spotter cleanup` say. */
export async function pinCheckpoint(
  control: Control,
  id: string,
  pinned: boolean,
): Promise<StoredCheckpoint> {
  const { runId, step } = await getCheckpoint(control, id);
  await update<StoredCheckpoint>(control.store, checkpointKey(runId, step), (current) => {
    if (current === undefined || (current.value.pinned ?? false) === pinned) return undefined;
    const { pinned: _pinned, ...rest } = current.value;
    return { value: pinned ? { ...rest, pinned } : rest };
  });
  return getCheckpoint(control, id);
}

/**
 * Deletes one checkpoint with its files, damaged or not.
 *
 * @throws SpotterError `conflict` while it is pinned, served, or what a run may begin from.
 */
export function deleteCheckpoint(control: Control, id: string): Promise<void> {
  return control.gate.remove(async () => {
    const checkpoint = await findStoredCheckpoint(control, id);
    // Tells which ones there are.
    if (checkpoint === undefined) return void (await getCheckpoint(control, id));
    if (checkpoint.pinned) throw needed(id, "it is pinned", `spotter checkpoint unpin ${id}`);
    const user = (await usedCheckpoints(control)).get(id);
    if (user !== undefined) throw needed(id, user, "spotter endpoint list");
    const run = (await findRun(control, checkpoint.runId))?.run;
    const isLive = run !== undefined && !isTerminalRun(run.state);
    if (isLive && (await listCheckpoints(control, run.id)).at(-1)?.id === id)
      throw needed(id, "its run goes on and may have to begin there again", `spotter run cancel ${run.id}`);
    await removeCheckpoint(control, checkpoint);
  });
}

/** The record first: files without one do not count, and `cleanup` finds what a crash leaves of them. */
export async function removeCheckpoint(control: Control, checkpoint: StoredCheckpoint): Promise<void> {
  const { runId, step, attempt } = checkpoint;
  await control.store.delete(checkpointKey(runId, step));
  control.routes.forgetLatestCheckpoint(runId);
  for (const { key } of await control.blobs.list(`${checkpointPrefix(runId, step, attempt)}/`))
    await control.blobs.delete(key);
}

function needed(id: string, why: string, command: string): SpotterError {
  return new SpotterError("conflict", `Checkpoint ${id} cannot be deleted: ${why}.`, {
    where: id,
    hint: `See \`${command}\`.`,
  });
}
