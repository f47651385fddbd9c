import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpoint } from "../../sdk/schema/job.ts";
import { checkpointPrefix, getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { fitsAsAdapter } from "../endpoints/adapters.ts";
import { getEndpoint } from "../endpoints/records.ts";
import type { JobRecord } from "./records.ts";

/**
 * An adapter as the replica of an endpoint fetches it that serves the model it lies on.
 *
 * @throws SpotterError `checkpoint_not_found`, or `model_not_found` for what is no adapter of this model.
 */
export async function adapterOf(control: Control, job: JobRecord, id: string): Promise<JobCheckpoint> {
  const { step, kind, model, files } = await adapterCheckpoint(control, job, id);
  const url = `${control.config.publicUrl()}/jobs/${encodeURIComponent(job.id)}/adapters/${encodeURIComponent(id)}/files`;
  return {
    id,
    kind,
    step,
    model,
    files: files.filter(isServed).map((file) => ({ ...file, url: `${url}/${encodeURI(file.path)}` })),
  };
}

/** Where a file of such an adapter lies. */
export async function adapterBlob(
  control: Control,
  job: JobRecord,
  id: string,
  path: string,
): Promise<string> {
  const { runId, step, attempt, files } = await adapterCheckpoint(control, job, id);
  if (files.some((file) => file.path === path && isServed(file)))
    return `${checkpointPrefix(runId, step, attempt)}/${path}`;
  throw new SpotterError("forbidden", `This job may not read ${path} of ${id}.`);
}

/** Servers need no optimizer state. */
function isServed({ path }: { path: string }): boolean {
  return path.startsWith("model/");
}

async function adapterCheckpoint(control: Control, job: JobRecord, id: string): Promise<Checkpoint> {
  if (job.kind !== "serve")
    throw new SpotterError("forbidden", "Only the replica of an endpoint serves adapters.");
  const checkpoint = await getCheckpoint(control, id);
  const { endpoint } = await getEndpoint(control, job.owner);
  if (fitsAsAdapter(checkpoint, endpoint)) return checkpoint;
  throw new SpotterError(
    "model_not_found",
    `${id} is no adapter that endpoint "${endpoint.name}" can serve.`,
    {
      where: "model",
      hint: `Launch an endpoint of its own with Endpoint.launch(model, { checkpoint: "${id}" }).`,
      status: 404,
    },
  );
}
