import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openContainers, environmentFor } from "../../functions/local/process-containers-fixture.ts";
import { containersContract } from "./suite.ts";

containersContract("ProcessContainers", async () => {
  const home = mkdtempSync(join(tmpdir(), "spotter-containers-"));
  const containers = await openContainers(home, { closeGraceMs: 200 });
  return {
    containers,
    environmentFor,
    killForMemory: async (jobId) => {
      // The leader of the group is the container's shell; the system would choose its large child.
      const line = (await containers.logs(jobId, 100)).find((text) => text.startsWith("pid "));
      process.kill(Number(line?.slice("pid ".length)), "SIGKILL");
    },
    dispose: async () => {
      await containers.close();
      rmSync(home, { recursive: true });
    },
  };
});
