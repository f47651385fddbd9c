import { join } from "node:path";
import type { EvalJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import { fetchedModelFolder } from "../model-files.ts";
import type { WeightsAt } from "../training/starting-point.ts";

/** The checkpoint of an eval job, on this disk: whole, or as an adapter on the model that it was trained from. */
export async function ownWeights(
  { checkpoint, modelFiles }: NonNullable<EvalJob["weights"]>,
  client: Pick<JobClient, "download">,
  workDir: string,
): Promise<WeightsAt> {
  const dir = join(workDir, "checkpoint");
  const wanted = checkpoint.files.filter(({ path }) => path.startsWith("model/"));
  await Promise.all(wanted.map((file) => client.download(file, join(dir, file.path))));
  const modelDir = join(dir, "model");
  if (checkpoint.kind === "full") return { modelDir };
  const base = await fetchedModelFolder(checkpoint.model, modelFiles, client, join(workDir, "model"));
  return { modelDir: base, adapterDir: modelDir };
}
