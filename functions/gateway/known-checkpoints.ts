import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { checkpointId } from "../../sdk/schema/model.ts";
import { findStoredCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";

interface Known {
  checkpoint: Checkpoint;
  readAtMs: number;
}

/** What a checkpoint is never changes; that it is gone or damaged is seen after so long. */
const MAX_AGE_MS = 10_000;
const MOST = 1_000;

const known = new WeakMap<Control, Map<string, Known>>();

/** A sound checkpoint, without a Store call for each request; undefined for none. */
export async function knownCheckpoint(control: Control, id: string): Promise<Checkpoint | undefined> {
  const entries = known.get(control) ?? new Map<string, Known>();
  known.set(control, entries);
  const nowMs = control.clock.now();
  const before = entries.get(id);
  if (before !== undefined && nowMs - before.readAtMs <= MAX_AGE_MS) return before.checkpoint;
  try {
    // A gateway has a Store and nothing else.
    const checkpoint = checkpointId.safeParse(id).success
      ? await findStoredCheckpoint(control, id)
      : undefined;
    entries.delete(id);
    if (checkpoint !== undefined && checkpoint.damage === undefined)
      entries.set(id, { checkpoint, readAtMs: nowMs });
  } catch (error) {
    // A Store that is away leaves what was known.
    if (before === undefined) throw error;
  }
  const [oldest] = entries.keys();
  if (entries.size > MOST && oldest !== undefined) entries.delete(oldest);
  return entries.get(id)?.checkpoint;
}
