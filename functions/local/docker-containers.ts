import { DockerContainer, type DockerOptions } from "./docker-containers/docker-container.ts";
import { listOf } from "./docker-containers/inspect.ts";
import { removeContainer } from "./docker-containers/overlay-image.ts";
import { nameOf, overlayName } from "./docker-containers/run-args.ts";
import { LocalContainers, type LocalContainersOptions } from "./local-containers.ts";
import type { Platforms } from "./local-containers/platforms.ts";
import type { ContainerRecord } from "./local-containers/record.ts";

export interface DockerContainersOptions
  extends LocalContainersOptions, Omit<DockerOptions, "home" | "log"> {}

/** Containers in Docker alone; takes over what an earlier daemon left of this home. */
export async function openDockerContainers(options: DockerContainersOptions): Promise<LocalContainers> {
  return await LocalContainers.open(options, {
    platformOf: () => "docker",
    create: (paths, record) => new DockerContainer(paths, record, options),
    strays: dockerStrays(options),
  });
}

/** What an earlier daemon of this home left in Docker and knew no end of. */
export function dockerStrays({
  docker,
  home,
}: Pick<DockerOptions, "docker" | "home">): NonNullable<Platforms["strays"]> {
  return async (known) => {
    const records = new Map(known.map((record) => [record.jobId, record]));
    const strays: ContainerRecord[] = [];
    for (const { name, jobId, kind, engine } of await listOf(docker, home)) {
      const record = records.get(jobId);
      const isHalfMade = name === overlayName(home);
      // One whose end is written down was to be removed next.
      if (isHalfMade || record?.state === "exited") await removeContainer(docker, name);
      else if (record === undefined && name === nameOf(home, jobId)) {
        const base = { v: 1, jobId, kind, platform: "docker", ...(engine && { engine }) } as const;
        strays.push({ ...base, state: "running", container: name });
      }
    }
    return strays;
  };
}
