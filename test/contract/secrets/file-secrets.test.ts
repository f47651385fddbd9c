import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSecrets } from "../../../functions/local/file-secrets.ts";
import { secretsContract } from "./suite.ts";

secretsContract("FileSecrets", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spotter-secrets-"));
  return {
    secrets: new FileSecrets(join(folder, "deep", "secrets.json")),
    dispose: () => rm(folder, { recursive: true }),
  };
});
