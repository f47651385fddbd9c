import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { nameOf } from "../../../functions/local/docker-containers/run-args.ts";
import { environmentFor } from "../../functions/local/process-containers-fixture.ts";
import { openInDocker } from "../../functions/local/docker-containers-fixture.ts";
import { containersContract } from "./suite.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 for the stand-in of docker\n");

describe.skipIf(!hasPython)("on a stand-in for docker", () => {
  containersContract("DockerContainers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-docker-"));
    const home = join(folder, "home");
    const { containers, docker } = await openInDocker(folder, { closeGraceMs: 200 });
    return {
      containers,
      environmentFor,
      killForMemory: async (jobId) => docker.killForMemory(nameOf(home, jobId)),
      dispose: async () => {
        await containers.close();
        rmSync(folder, { recursive: true });
      },
    };
  });
});
