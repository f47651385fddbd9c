import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpoint, TrainJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import { fetchedModelFolder } from "../model-files.ts";
import { readTrainerState } from "./checkpoints.ts";
import type { VerdictCount } from "./verdicts.ts";

/** Where the weights come from. */
export interface WeightsAt {
  modelDir: string;
  adapterDir?: string;
}

/** Everything a run starts from, on this disk. */
export interface StartingPoint {
  weights: WeightsAt;
  /** Optimizer state to load. */
  trainerDir?: string;
  /** Steps of this run that are finished already. */
  finishedSteps: number;
  /** Steps of the runs this one continues. */
  inheritedSteps: number;
  verdicts: VerdictCount;
}

/** Fetches what the job starts from and checks that it fits the spec. Throws `checkpoint_mismatch`. */
export async function startingPoint(
  job: TrainJob,
  client: Pick<JobClient, "download">,
  workDir: string,
): Promise<StartingPoint> {
  const { spec, start, resume } = job;
  const base = await fetchedModelFolder(spec.model, job.modelFiles, client, join(workDir, "model"));
  if (resume !== undefined) return resumed(resume, client, join(workDir, "resume"), base);
  const fresh = { finishedSteps: 0, inheritedSteps: 0, verdicts: { judged: 0, missing: 0 } };
  if (start === undefined) return { ...fresh, weights: { modelDir: base } };
  const dir = join(workDir, "start");
  const keepsOptimizer = spec.startFrom?.mode === "continue";
  await fetchCheckpoint(client, start, dir, keepsOptimizer ? ["model/", "trainer/"] : ["model/"]);
  await checkFits(job, start, dir);
  const weights = weightsOf(start, dir, base);
  if (!keepsOptimizer) return { ...fresh, weights };
  const { totalSteps } = await readTrainerState(dir, start.id);
  return { ...fresh, weights, trainerDir: join(dir, "trainer"), inheritedSteps: totalSteps };
}

async function resumed(
  resume: JobCheckpoint,
  client: Pick<JobClient, "download">,
  dir: string,
  base: string,
): Promise<StartingPoint> {
  await fetchCheckpoint(client, resume, dir, ["model/", "trainer/"]);
  const state = await readTrainerState(dir, resume.id);
  return {
    weights: weightsOf(resume, dir, base),
    trainerDir: join(dir, "trainer"),
    finishedSteps: state.step,
    inheritedSteps: state.totalSteps - state.step,
    verdicts: state.verdicts,
  };
}

async function fetchCheckpoint(
  client: Pick<JobClient, "download">,
  checkpoint: JobCheckpoint,
  dir: string,
  prefixes: readonly string[],
): Promise<void> {
  const wanted = checkpoint.files.filter((file) => prefixes.some((prefix) => file.path.startsWith(prefix)));
  await Promise.all(wanted.map((file) => client.download(file, join(dir, file.path))));
}

function weightsOf(checkpoint: JobCheckpoint, dir: string, base: string): WeightsAt {
  const modelDir = join(dir, "model");
  return checkpoint.kind === "full" ? { modelDir } : { modelDir: base, adapterDir: modelDir };
}

async function checkFits({ spec }: TrainJob, start: JobCheckpoint, dir: string): Promise<void> {
  const refuse = (what: string, hint: string): never => {
    throw new SpotterError("checkpoint_mismatch", `Checkpoint ${start.id} ${what}.`, {
      where: "startFrom.checkpoint",
      hint,
    });
  };
  if (start.model.name !== spec.model.name)
    refuse(
      `was trained from ${start.model.name}, not ${spec.model.name}`,
      `Set the model to ${start.model.name}.`,
    );
  const wanted = spec.adapter;
  if (start.kind !== wanted.kind)
    refuse(
      `holds ${nameOf(start.kind)}, and the run trains ${nameOf(wanted.kind)}`,
      "Use the same kind of adapter.",
    );
  if (wanted.kind !== "lora") return;
  const adapter = await readAdapterConfig(join(dir, "model", "adapter_config.json"), start.id);
  if (adapter.r !== wanted.rank)
    refuse(`has rank ${adapter.r}, not ${wanted.rank}`, `Set the adapter's rank to ${adapter.r}.`);
  const alpha = wanted.alpha ?? 2 * wanted.rank;
  if (adapter.lora_alpha !== alpha)
    refuse(
      `has alpha ${adapter.lora_alpha}, not ${alpha}`,
      `Set the adapter's alpha to ${adapter.lora_alpha}.`,
    );
  const targets = [...wanted.targets].sort().join(", ");
  const found = [...adapter.target_modules].sort().join(", ");
  if (targets !== found) refuse(`adapts ${found}, not ${targets}`, `Set the adapter's targets to ${found}.`);
}

function nameOf(kind: "full" | "lora"): string {
  return kind === "full" ? "full weights" : "an adapter (LoRA)";
}

const adapterConfig = z.looseObject({
  r: z.number(),
  lora_alpha: z.number(),
  target_modules: z.array(z.string()),
});

async function readAdapterConfig(file: string, id: string): Promise<z.infer<typeof adapterConfig>> {
  const parsed = z.safeParse(adapterConfig, JSON.parse(await readFile(file, "utf8")));
  if (parsed.success) return parsed.data;
  throw new SpotterError("checkpoint_mismatch", `Checkpoint ${id} has no usable adapter_config.json.`, {
    where: "model/adapter_config.json",
    hint: "Start from another checkpoint.",
  });
}
