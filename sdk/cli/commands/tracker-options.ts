import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import type { TrackerParams } from "../../trackers.ts";

/** The secret of W&B's key, where nothing else is said: as its own client names the variable. */
export const WANDB_SECRET = "WANDB_API_KEY";

export interface TrackerOptions {
  tensorboard?: string;
  /** An address, or true for that of MLFLOW_TRACKING_URI. */
  mlflow?: string | true;
  mlflowExperiment?: string;
  mlflowSecret?: string;
  wandb?: string;
  wandbSecret?: string;
}

/** The options that name trackers; see docs/trackers.md. */
export function withTrackerOptions(command: Command): Command {
  return command
    .option("--tensorboard <folder>", "write the metrics there, for TensorBoard")
    .option("--mlflow [url]", "tell them to this MLflow server (default: MLFLOW_TRACKING_URI)")
    .option("--mlflow-experiment <name>", "in this experiment (default: spotter)")
    .option("--mlflow-secret <name>", "stored secret: user:password, or a token")
    .option("--wandb <project>", "tell them to W&B; a project, or entity/project")
    .option("--wandb-secret <name>", `stored secret that holds the API key (default: ${WANDB_SECRET})`);
}

/**
 * The trackers that options name.
 *
 * @throws SpotterError `invalid_input` for an option that says more of a tracker that none names.
 */
export function trackersFrom(options: TrackerOptions): TrackerParams[] {
  const { tensorboard, mlflow, mlflowExperiment, mlflowSecret, wandb, wandbSecret } = options;
  if (mlflow === undefined && (mlflowExperiment ?? mlflowSecret) !== undefined) throw alone("mlflow", "URL");
  if (wandb === undefined && wandbSecret !== undefined) throw alone("wandb", "PROJECT");
  return [
    ...(tensorboard === undefined ? [] : [{ kind: "tensorboard" as const, path: tensorboard }]),
    ...(mlflow === undefined
      ? []
      : [
          {
            kind: "mlflow" as const,
            ...(mlflow !== true && { url: mlflow }),
            ...(mlflowExperiment !== undefined && { experiment: mlflowExperiment }),
            ...(mlflowSecret !== undefined && { secret: mlflowSecret }),
          },
        ]),
    ...(wandb === undefined ? [] : [wandbTracker(wandb, wandbSecret)]),
  ];
}

/** Which options named them. */
export function trackerFlags({ tensorboard, mlflow, wandb }: TrackerOptions): string {
  return Object.entries({ tensorboard, mlflow, wandb })
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]))
    .join(", ");
}

function wandbTracker(name: string, secret = WANDB_SECRET): TrackerParams {
  const slash = name.indexOf("/");
  const project = name.slice(slash + 1);
  return { kind: "wandb", project, secret, ...(slash >= 0 && { entity: name.slice(0, slash) }) };
}

function alone(flag: string, takes: string): SpotterError {
  return new SpotterError("invalid_input", `--${flag}-… says more of --${flag}, which is not there.`, {
    where: `--${flag}`,
    hint: `Add --${flag} ${takes}.`,
  });
}
