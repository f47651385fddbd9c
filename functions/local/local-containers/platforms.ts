import type { ContainerSpec } from "../../ports/containers.ts";
import type { Container } from "./container.ts";
import type { ContainerPaths, ContainerRecord } from "./record.ts";

/** What runs the containers of a home. */
export interface Platforms {
  /** Where a container will run; undefined: as processes. */
  platformOf(spec: ContainerSpec): ContainerRecord["platform"];
  create(paths: ContainerPaths, record: ContainerRecord): Container;
  /** Clears up what an earlier daemon left half done, and tells of what lives without a record. */
  strays?(known: readonly ContainerRecord[]): Promise<ContainerRecord[]>;
}
