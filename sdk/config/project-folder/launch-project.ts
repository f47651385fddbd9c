import { Endpoint } from "../../endpoint.ts";
import { Run } from "../../run.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type Checkpoint } from "../../checkpoint.ts";
import { TrainConfig, type TrainConfigParams } from "../../train-config.ts";
import type { TrackerParams } from "../../trackers.ts";
import { modelNameKind } from "./catalogue.ts";
import type { ProjectConfig } from "./config-schema.ts";
import type { Project } from "./project.ts";
import type { ProjectRun } from "./resolve-project.ts";
import { trainParams } from "./train-params.ts";

export interface LaunchOptions {
  /** Names of stored secrets that rewards and tools may read. */
  secrets?: readonly string[];
  /** Run rewards.py and tools.py beside the trainer. Default false. */
  allowPython?: boolean | undefined;
  /** Told the metrics. Default: nobody. */
  trackers?: TrackerParams[];
  /** Although it will most likely not fit, or takes more than a day. Default false. */
  force?: boolean;
  signal?: AbortSignal | undefined;
}

type ValidProject = Project & { config: ProjectConfig };

/** Launches one run of a project, as a script with a TrainConfig would. */
export async function launchProjectRun(
  project: ValidProject,
  run: ProjectRun,
  options: LaunchOptions = {},
): Promise<Run> {
  const { signal, force = false } = options;
  const params = {
    ...trainParams(project, run.plan, options),
    ...(await startOf(project, run.model, signal)),
  };
  return new TrainConfig(params).launch({ signal, force });
}

/** What would be sent, without sending it. */
export async function nativeSpec(
  project: ValidProject,
  run: ProjectRun,
  options: Omit<LaunchOptions, "signal">,
) {
  return new TrainConfig(trainParams(project, run.plan, options)).spec();
}

/** A model that was trained here before: its base, and its weights to begin with. */
async function startOf(
  project: Project,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Pick<TrainConfigParams, "model" | "startFrom"> | undefined> {
  if (modelNameKind(name, project.catalogue) !== "record") return undefined;
  const [id = "", step] = name.split("@");
  const run = await found(() => Run.get(id, { signal }));
  if (run) {
    const checkpoint = step === undefined ? await lastOf(run, signal) : name;
    return { model: run.spec.model.name, startFrom: { checkpoint, mode: "weights" } };
  }
  const endpoint = await found(() => Endpoint.get(name, { signal }));
  if (!endpoint) return undefined;
  const { model, checkpoint } = endpoint.record;
  return { model: model.name, ...(checkpoint && { startFrom: { checkpoint, mode: "weights" as const } }) };
}

async function lastOf(run: Run, signal: AbortSignal | undefined): Promise<Checkpoint> {
  const last = (await run.checkpoints({ signal })).at(-1);
  if (last) return last;
  throw new SpotterError("checkpoint_not_found", `${run.id} has left no checkpoint to train from.`, {
    where: "model.path",
    hint: "Name another run, or a model.",
  });
}

async function found<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (SpotterError.is(error) && error.status === 404) return undefined;
    throw error;
  }
}
