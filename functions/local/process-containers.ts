import { LocalContainers, type LocalContainersOptions } from "./local-containers.ts";
import { ProcessContainer } from "./process-containers/process-container.ts";
import type { Programs } from "./process-containers/program.ts";

export interface ProcessContainersOptions extends LocalContainersOptions, Programs {}

/** Containers as processes of this machine; takes over what an earlier daemon left in this home. */
export async function openProcessContainers(options: ProcessContainersOptions): Promise<LocalContainers> {
  return await LocalContainers.open(options, {
    platformOf: () => undefined,
    create: (paths, record) => new ProcessContainer(paths, record, options),
  });
}
