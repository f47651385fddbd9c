import { resolve } from "node:path";
import { SpotterError } from "./schema/errors.ts";
import { trackerUrl, WANDB_URL, type Tracker } from "./schema/tracker.ts";

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

/**
 * Trackers as a run keeps them: with whole paths, and the addresses that this environment names.
 *
 * @throws SpotterError `invalid_input` where an address is to come from the environment, and does not.
 */
export function trackersOf(
  trackers: readonly TrackerParams[],
  { cwd, environment }: { cwd: string; environment: NodeJS.ProcessEnv },
): (TrackerParams | Tracker)[] {
  return trackers.map((tracker, index) => {
    switch (tracker.kind) {
      case "tensorboard":
        return { ...tracker, path: resolve(cwd, tracker.path) };
      case "mlflow": {
        const url = tracker.url ?? addressIn(environment, "MLFLOW_TRACKING_URI", index);
        if (url !== undefined) return { ...tracker, url };
        throw new SpotterError("invalid_input", "Nothing says where MLflow is.", {
          where: `trackers[${index}].url`,
          hint: "Give its address (url, --mlflow URL), or set the variable MLFLOW_TRACKING_URI.",
        });
      }
      case "wandb":
        return {
          ...tracker,
          url: tracker.url ?? addressIn(environment, "WANDB_BASE_URL", index) ?? WANDB_URL,
        };
    }
  });
}

/** Nobody who reads of a wrong address would look for it in a variable that was set long ago. */
function addressIn(environment: NodeJS.ProcessEnv, name: string, index: number): string | undefined {
  const url = environment[name] || undefined;
  if (url === undefined || trackerUrl.safeParse(url).success) return url;
  throw new SpotterError(
    "invalid_input",
    `The variable ${name} is no http or https URL without a user or a query.`,
    {
      where: `trackers[${index}].url`,
      hint: `Correct ${name}, or give the address itself.`,
    },
  );
}
