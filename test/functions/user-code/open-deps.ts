import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileBlobs } from "../../../functions/local/file-blobs.ts";
import { FileSecrets } from "../../../functions/local/file-secrets.ts";
import { SqliteStore } from "../../../functions/local/sqlite-store.ts";
import { systemClock } from "../../../functions/system/system-clock.ts";
import { createWorkerdIsolates } from "../../../functions/local/workerd-isolates/index.ts";
import type { UserCodeDeps } from "../../../functions/user-code/records.ts";
import { putUserCode } from "../../../functions/user-code/user-code.ts";
import type { RewardSetup } from "../../../sdk/schema/run-spec.ts";
import { bundleUserCode } from "../../../sdk/user-code/bundle.ts";

export interface OpenDeps {
  deps: UserCodeDeps;
  folder: string;
  /** Bundles a file of rewards, uploads it, and gives the setup that judges with all of it. */
  upload(source: string | URL, name?: string): Promise<RewardSetup>;
  close(): Promise<void>;
}

/** The real adapters of one machine in a folder of their own. */
export function openDeps(): OpenDeps {
  const folder = mkdtempSync(join(tmpdir(), "spotter-user-code-"));
  const store = new SqliteStore(join(folder, "state.db"));
  const isolates = createWorkerdIsolates({ workDir: join(folder, "isolates"), memoryMiB: 64 });
  const deps: UserCodeDeps = {
    store,
    blobs: new FileBlobs(join(folder, "blobs")),
    secrets: new FileSecrets(join(folder, "secrets.json")),
    clock: systemClock(),
    isolates,
  };
  return {
    deps,
    folder,
    async upload(source, name = "rewards.ts") {
      const file = source instanceof URL ? source : join(folder, name);
      if (typeof source === "string") writeFileSync(file, source);
      const bundle = await bundleUserCode(file);
      await putUserCode(deps, bundle.sha256, bundle.code, bundle.name);
      return { code: { sha256: bundle.sha256, secrets: [] }, timeoutMs: 2_000, maxMissingShare: 0.2 };
    },
    async close() {
      await isolates.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
