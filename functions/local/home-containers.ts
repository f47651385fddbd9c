import type { EngineImages } from "../../sdk/schema/engine-images.ts";
import type { DockerCli } from "./docker-containers/docker-cli.ts";
import { DockerContainer, type DockerOptions } from "./docker-containers/docker-container.ts";
import { dockerStrays } from "./docker-containers.ts";
import { AGENT_DIR } from "./foreign-engines.ts";
import { LocalContainers, type LocalContainersOptions } from "./local-containers.ts";
import { ProcessContainer } from "./process-containers/process-container.ts";
import type { Programs } from "./process-containers/program.ts";

export interface HomeContainersOptions extends LocalContainersOptions, Programs {
  agent: NonNullable<Programs["agent"]>;
  docker: DockerCli;
  /** Engines with an image run in Docker. Undefined: all are processes. */
  images: EngineImages | undefined;
}

/**
 * The containers of this machine: the embedded engine's are processes, those of other engines are in Docker where
 * they have images. What an earlier daemon left in Docker is looked after in any case.
 */
export async function openHomeContainers(options: HomeContainersOptions): Promise<LocalContainers> {
  const { images } = options;
  const inDocker: DockerOptions = {
    ...options,
    agentDir: AGENT_DIR,
    imageOf: (engine) => engine && images?.[engine],
  };
  return await LocalContainers.open(options, {
    platformOf: ({ engine }) => (images !== undefined && engine !== undefined ? "docker" : undefined),
    create: (paths, record) =>
      record.platform === "docker"
        ? new DockerContainer(paths, record, inDocker)
        : new ProcessContainer(paths, record, options),
    ...(images !== undefined && { strays: dockerStrays(inDocker) }),
  });
}
