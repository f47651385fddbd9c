import type { FakeAwsClock, Traffic } from "./clock.ts";
import type { FakeContainers } from "./containers.ts";
import type { FakeEvents } from "./events.ts";
import type { FakeIds } from "./ids.ts";
import type { LogStore } from "./log-store.ts";
import type { Pool, PoolDelays } from "./pool.ts";
import type { SsmParameters } from "./ssm.ts";
import type { StartFailures } from "./start-failures.ts";

/** How long each step takes. Virtual milliseconds, or real ones with `auto`. */
export interface Delays extends PoolDelays {
  /** From placed to PENDING: the network interface. */
  taskProvisioningMs: number;
  /** From PENDING to RUNNING: the image pull. */
  taskPendingMs: number;
  taskDeprovisioningMs: number;
  /** SUBMITTED to PENDING, and PENDING to RUNNABLE. */
  jobQueueingMs: number;
  /** From STARTING to RUNNING: the image pull. */
  jobStartingMs: number;
  /** From the spot warning to the end of the instance. */
  spotWarningMs: number;
  eventLatencyMs: number;
}

export const usualDelays: Delays = {
  taskProvisioningMs: 2_000,
  taskPendingMs: 10_000,
  taskDeprovisioningMs: 3_000,
  jobQueueingMs: 1_000,
  jobStartingMs: 10_000,
  instanceBootMs: 90_000,
  instanceStopMs: 30_000,
  scaleInMs: 900_000,
  launchRetryMs: 60_000,
  spotWarningMs: 120_000,
  eventLatencyMs: 500,
};

/** Real time must not be waited for: every step is a few milliseconds. */
export const autoDelays: Delays = {
  taskProvisioningMs: 5,
  taskPendingMs: 10,
  taskDeprovisioningMs: 5,
  jobQueueingMs: 5,
  jobStartingMs: 10,
  instanceBootMs: 30,
  instanceStopMs: 10,
  scaleInMs: 2_000,
  launchRetryMs: 100,
  spotWarningMs: 500,
  eventLatencyMs: 2,
};

/** What the services share. */
export interface World {
  clock: FakeAwsClock;
  traffic: Traffic;
  ids: FakeIds;
  delays: Delays;
  pools: Map<string, Pool>;
  containers: FakeContainers;
  startFailures: StartFailures;
  events: FakeEvents;
  logs: LogStore;
  parameters: SsmParameters;
  /** Lambda functions by name: their tags. */
  functionTags: Map<string, Record<string, string>>;
}

/** What a container's secret holds: an SSM parameter by name or arn. Without it the container does not start. */
export function secretOf({ parameters }: World, valueFrom: string): string {
  const kept = parameters.get(valueFrom.replace(/^arn:.*:parameter/, ""));
  if (kept !== undefined) return kept.value;
  throw new Error(
    `ResourceInitializationError: unable to pull secrets or registry auth: invalid parameters: ${valueFrom}`,
  );
}

/** As the service puts it. */
export function startProblemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^\w+Error: /.test(message) ? message : `CannotStartContainerError: ${message}`;
}
