import type { CleanupItem } from "../../sdk/schema/cleanup.ts";
import type { Control } from "../control.ts";
import { conversionKey, CONVERSIONS, forgetConversion, type Conversion } from "../jobs/conversions.ts";
import { findJob } from "../jobs/records.ts";

/** A container that has asked for one may still be fetching it. */
const FETCH_MS = 24 * 60 * 60_000;

/** Converted weights that nobody asked for in a long time, and those whose upload was never completed. */
export async function unusedConversions(
  control: Control,
  beforeMs: number,
): Promise<{ item: CleanupItem; remove: () => Promise<void> }[]> {
  const latestMs = Math.min(beforeMs, control.clock.now() - FETCH_MS);
  const made = new Map<string, number>();
  for (const { key, size } of await control.blobs.list(`${CONVERSIONS}/`)) {
    const prefix = key.split("/").slice(0, 3).join("/");
    made.set(prefix, (made.get(prefix) ?? 0) + size);
  }
  const removals = [];
  for (const [prefix, bytes] of made) {
    const [, key = "", jobId = ""] = prefix.split("/");
    const document = (await control.store.get<Conversion>(conversionKey(key)))?.value;
    const isKept = document?.prefix === prefix;
    if (isKept ? document.usedAtMs >= latestMs : await isUploading(control, jobId)) continue;
    const reason = isKept ? "not used for long; made again when needed" : "never completed";
    removals.push({
      item: {
        kind: isKept ? "cache" : "leftover",
        name: `conversion ${key.slice(0, 12)}`,
        bytes,
        reason,
      } as const,
      async remove() {
        if (isKept) await forgetConversion(control, key);
        for (const blob of await control.blobs.list(`${prefix}/`)) await control.blobs.delete(blob.key);
      },
    });
  }
  return removals;
}

async function isUploading(control: Control, jobId: string): Promise<boolean> {
  const job = await findJob(control, jobId);
  return job !== undefined && !job.fenced && job.endedAtMs === undefined;
}
