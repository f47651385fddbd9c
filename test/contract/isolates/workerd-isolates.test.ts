import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkerdIsolates } from "../../../functions/local/workerd-isolates/index.ts";
import { isolatesContract } from "./suite.ts";

isolatesContract("workerd-isolates", async () => {
  const workDir = await mkdtemp(join(tmpdir(), "spotter-isolates-"));
  const lines: string[] = [];
  const isolates = createWorkerdIsolates({
    workDir,
    loadTimeoutMs: 2_500,
    memoryMiB: 64,
    onMessage: ({ text }) => lines.push(text),
  });
  return {
    isolates,
    printed: () => lines,
    async dispose() {
      await isolates.close();
      await rm(workDir, { recursive: true });
    },
  };
});
