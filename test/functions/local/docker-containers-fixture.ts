import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DockerCli } from "../../../functions/local/docker-containers/docker-cli.ts";
import {
  openDockerContainers,
  type DockerContainersOptions,
} from "../../../functions/local/docker-containers.ts";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import { systemClock } from "../../../functions/system/system-clock.ts";
import { fakeDocker, type FakeDocker } from "../../fakes/docker/index.ts";
import { failingLog } from "./process-containers-fixture.ts";

const PROGRAM = fileURLToPath(new URL("../../fixtures/local/container.ts", import.meta.url));
const AGENT_DIR = fileURLToPath(new URL("../../../engine/python", import.meta.url));
export const IMAGE = "gym/engine:1";

/** Containers in a stand-in for Docker, whose program does what its job token says. */
export async function openInDocker(
  folder: string,
  options: Partial<DockerContainersOptions> = {},
): Promise<{ containers: LocalContainers; docker: FakeDocker }> {
  const docker = fakeDocker(folder);
  docker.addImage(IMAGE);
  const containers = await openDockerContainers({
    home: join(folder, "home"),
    docker: new DockerCli({ program: docker.program, environment: process.env }),
    imageOf: () => IMAGE,
    agent: { command: [process.execPath, PROGRAM], environment: {} },
    agentDir: AGENT_DIR,
    clock: systemClock(),
    log: failingLog,
    ...options,
  });
  return { containers, docker };
}
