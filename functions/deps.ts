import type { ContainerKind, ContainerSpec, ForeignEngine } from "./ports/containers.ts";
import type { Holds } from "./gateway/hold.ts";
import type { Pricing } from "./cost/pricing.ts";
import type { Blobs } from "./ports/blobs.ts";
import type { Clock, Ids, Log } from "./ports/clock.ts";
import type { Containers } from "./ports/containers.ts";
import type { EventFiles } from "./ports/event-files.ts";
import type { Isolates } from "./ports/isolates.ts";
import type { Scratch } from "./ports/scratch.ts";
import type { Secrets } from "./ports/secrets.ts";
import type { Store } from "./ports/store.ts";

/**
 * What is different where the control plane is several processes over one Store: functions that live for a call or
 * two, and gateways.
 */
export interface Shared {
  /** How old what is known of keys and job tokens may be. Two seconds keep what is promised of a revocation. */
  maxAgeMs: number;
  /**
   * For a function, which stands still between its calls: endpoints and aliases are read at each use. Default: they
   * are kept current in the background, so that no chat waits for the Store.
   */
  readsAtUse?: boolean;
  /** Asks whoever does it to look soon. Called often: many calls may make one look. */
  wake(what: "reconciler" | "webhooks" | "autoscaler"): void;
}

/** Everything the control plane touches. The entries build it; nothing else reads the environment. */
export interface Deps {
  store: Store;
  blobs: Blobs;
  containers: Containers;
  isolates: Isolates;
  secrets: Secrets;
  /** Absent where the home has no folder of its own. */
  scratch?: Scratch;
  /** Absent where no disk stays. */
  eventFiles?: EventFiles;
  /** The `config.json` of a model folder; undefined where it cannot be read. Absent: there are no such folders. */
  modelConfig?: (folder: string) => Promise<unknown>;
  /**
   * Why no container could read a model from a path of this machine, such as "is empty"; undefined where nothing speaks
   * against it. Absent: paths are those of containers, and nobody here can look.
   */
  modelFault?: (path: string) => Promise<string | undefined>;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Absent where all of the control plane is this one process. */
  shared?: Shared;
  config: {
    version: string;
    /** How containers and users reach this control plane, for example http://127.0.0.1:7717. */
    publicUrl: () => string;
    /** Folder or bucket where state lives, for `GET /status`. */
    home: string;
    /** Cores a container may use. */
    threads: number;
    heartbeatEveryMs: number;
    /** A job without a heartbeat for this long is lost. */
    leaseMs: number;
    /** Attempts of one run before it fails. */
    maxAttempts: number;
    /** A checkpoint that is asked for by name gets an endpoint. Default: only what was launched answers. */
    servesCheckpoints?: boolean;
    /** How long requests are held that have no replica yet. Default: as long as stock clients wait. */
    holds?: Holds;
    /** Engines besides the embedded one that containers here can start. Default: none. */
    engines?: () => readonly ForeignEngine[];
    /** How its owner gives this home an engine that it lacks. Default: docs/engines.md says it. */
    engineHint?: (engine: ForeignEngine) => string;
    /** Names of variables that a container of such an engine could not be given here. Default: none. */
    cannotGive?: (env: Readonly<Record<string, string>>) => string[];
    /**
     * Throws where no container of this home could be what is wanted: before anything is written down. Default: it
     * turns out when one is started.
     */
    checkPlace?: (kind: ContainerKind, wanted: Pick<ContainerSpec, "engine" | "hardware">) => void;
    /** Whether containers find a `python3`. Default: they do not. */
    hasPython?: () => boolean;
    /** What containers run on and cost. Default: one machine, and nothing. */
    pricing?: Pricing;
    /** Longest life of any container, after which its home ends it by itself. Default: as long as it is needed. */
    maxLifetimeMs?: number;
    notes: string[];
  };
}
