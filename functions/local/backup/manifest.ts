import * as z from "zod/mini";

export const MANIFEST = "spotter-backup.json";

/** What a backup says of itself, in a file of its own at its top. */
export const backupManifest = z.object({
  v: z.literal(1),
  /** The Spotter that made it. */
  version: z.string(),
  createdAtMs: z.number(),
  withSecrets: z.boolean(),
  /** Blobs that were named and not there: damage that was there before. */
  missing: z.array(z.string()),
});
export type BackupManifest = z.infer<typeof backupManifest>;
