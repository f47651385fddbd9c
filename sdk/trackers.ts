import { resolve } from "node:path";
import { WANDB_URL, type Tracker } from "./schema/tracker.ts";

/** Where the metrics of a run are told while it trains; see docs/trackers.md. */
export type TrackerParams =
  | {
      kind: "tensorboard";
      /** A folder of the machine that trains; a relative one is meant from where the script runs. */
      path: string;
    }
  | {
      kind: "mlflow";
      /** The tracking server. Default: MLFLOW_TRACKING_URI. */
      url?: string;
      /** Default "spotter". */
      experiment?: string;
      /** Name of a stored secret: `user:password`, or a token. */
      secret?: string;
    }
  | {
      kind: "wandb";
      project: string;
      /** Default: the entity of the key. */
      entity?: string;
      /** Name of the stored secret that holds the API key. */
      secret: string;
      /** Default: WANDB_BASE_URL, else W&B's own address. */
      url?: string;
      group?: string;
    };

/** Trackers as a run keeps them: with whole paths, and the addresses that this environment names. */
export function trackersOf(
  trackers: readonly TrackerParams[],
  { cwd, environment }: { cwd: string; environment: NodeJS.ProcessEnv },
): (TrackerParams | Tracker)[] {
  return trackers.map((tracker) => {
    switch (tracker.kind) {
      case "tensorboard":
        return { ...tracker, path: resolve(cwd, tracker.path) };
      case "mlflow": {
        const url = tracker.url ?? (environment["MLFLOW_TRACKING_URI"] || undefined);
        return { ...tracker, ...(url !== undefined && { url }) };
      }
      case "wandb":
        return { ...tracker, url: tracker.url ?? (environment["WANDB_BASE_URL"] || WANDB_URL) };
    }
  });
}
