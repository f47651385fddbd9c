import type { CleanupItem } from "../../sdk/schema/cleanup.ts";
import type { Control } from "../control.ts";
import { findManifest, modelBlobs } from "../models/models.ts";
import { removeWeights } from "../models/remove.ts";
import { usedWeights } from "./references.ts";

/** Weights are announced before they are uploaded, and only then named: a large model takes its time. */
const UPLOAD_MS = 24 * 60 * 60_000;

/** Stored weights that no name and nothing else refers to any more. */
export async function unusedWeights(
  control: Control,
  beforeMs: number,
): Promise<{ item: CleanupItem; remove: () => Promise<void> }[]> {
  const used = await usedWeights(control);
  const bytes = new Map<string, number>();
  for (const { key, size } of await control.blobs.list(modelBlobs(""))) {
    const [, sha256 = ""] = key.split("/");
    if (!used.has(sha256)) bytes.set(sha256, (bytes.get(sha256) ?? 0) + size);
  }
  const latestMs = Math.min(beforeMs, control.clock.now() - UPLOAD_MS);
  const found = await Promise.all(
    [...bytes].map(async ([sha256, size]) => {
      const announcedAtMs = (await findManifest(control, sha256))?.announcedAtMs ?? 0;
      return { sha256, size, isOld: announcedAtMs < latestMs };
    }),
  );
  return found
    .filter(({ isOld }) => isOld)
    .map(({ sha256, size }) => ({
      item: { kind: "model", name: sha256, bytes: size, reason: "no name, endpoint or run refers to it" },
      remove: () => removeWeights(control, sha256),
    }));
}
