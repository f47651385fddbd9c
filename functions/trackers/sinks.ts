import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Tracker } from "../../sdk/schema/tracker.ts";
import type { Control } from "../control.ts";
import type { EventFiles } from "../ports/event-files.ts";
import { mlflowSink } from "./mlflow.ts";
import { tensorboardSink } from "./tensorboard.ts";
import type { TrackerHttp } from "./tracker-http.ts";
import { TrackerRefusal, type TrackerSink } from "./tracker-sink.ts";
import { wandbSink } from "./wandb.ts";

/** A tracker, ready to be told. @throws TrackerRefusal where its secret is gone. */
export async function sinkOf(control: Control, tracker: Tracker, http: TrackerHttp): Promise<TrackerSink> {
  switch (tracker.kind) {
    case "tensorboard":
      if (control.eventFiles === undefined) throw new TrackerRefusal("there is no disk to write to", 400);
      return tensorboardSink(tracker, control.eventFiles);
    case "mlflow":
      return mlflowSink(tracker, await secretOf(control, tracker.secret), http);
    case "wandb":
      return wandbSink(tracker, (await secretOf(control, tracker.secret)) ?? "", http);
  }
}

async function secretOf(control: Control, name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return undefined;
  try {
    return (await control.secrets.resolve([name]))[name];
  } catch (error) {
    throw new TrackerRefusal(error instanceof Error ? error.message : String(error), 400);
  }
}

/** Where a tracker's metrics go, in a few words. */
export function nameOf(tracker: Tracker): string {
  switch (tracker.kind) {
    case "tensorboard":
      return `TensorBoard (${tracker.path})`;
    case "mlflow":
      return `MLflow (${new URL(tracker.url).host})`;
    case "wandb":
      return `W&B (${new URL(tracker.url).host})`;
  }
}

/**
 * Refuses a tracker that can never be told.
 *
 * @throws SpotterError `not_found` for a secret that is not set, `route_unsupported` for files where there is no disk,
 * `invalid_input` for files in Spotter's own folder.
 */
export async function checkTrackers(control: Control, trackers: readonly Tracker[]): Promise<void> {
  for (const [index, tracker] of trackers.entries()) {
    const where = `trackers[${index}]`;
    if (tracker.kind === "tensorboard") {
      if (control.eventFiles !== undefined) {
        await refuseOwn(control.eventFiles, tracker.path, where);
        continue;
      }
      throw new SpotterError("route_unsupported", "Here is no disk for TensorBoard's files.", {
        where,
        hint: "They are written on one machine only; on AWS tell MLflow or W&B.",
      });
    }
    if (tracker.secret === undefined || (await control.secrets.list()).includes(tracker.secret)) continue;
    throw new SpotterError(
      "not_found",
      `${nameOf(tracker)} is to be told with the secret "${tracker.secret}", which is not set.`,
      { where: `${where}.secret`, hint: `Set it: spotter secret set ${tracker.secret}` },
    );
  }
}

async function refuseOwn(files: EventFiles, path: string, where: string): Promise<void> {
  if (!(await files.isOwn(path))) return;
  throw new SpotterError("invalid_input", `${path} is in Spotter's own folder.`, {
    where: `${where}.path`,
    hint: "Name a folder of your own: what is in that one Spotter removes and replaces as it needs to.",
    status: 400,
  });
}
