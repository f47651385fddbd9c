import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { adapterShape, type AdapterShape } from "../../sdk/schema/peft.ts";
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
  if (start === undefined) return { ...fresh, weights: await withAdapter(spec.adapter, base) };
  const dir = join(workDir, "start");
  const keepsOptimizer = spec.startFrom?.mode === "continue";
  await fetchCheckpoint(client, start, dir, keepsOptimizer ? ["model/", "trainer/"] : ["model/"]);
  await checkFits(job, start, dir);
  const weights = weightsOf(start, dir, base);
  if (!keepsOptimizer) return { ...fresh, weights };
  const { totalSteps } = await readTrainerState(dir, start.id);
  return { ...fresh, weights, trainerDir: join(dir, "trainer"), inheritedSteps: totalSteps };
}

/** The model, and the adapter on this disk that the run begins with, where it names one. */
async function withAdapter(wanted: TrainJob["spec"]["adapter"], modelDir: string): Promise<WeightsAt> {
  if (wanted.kind !== "lora" || wanted.from === undefined) return { modelDir };
  const { from: adapterDir } = wanted;
  await checkAdapter(wanted, adapterDir, { name: adapterDir, where: "adapter.from" });
  return { modelDir, adapterDir };
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
  const place = { name: `Checkpoint ${start.id}`, where: "startFrom.checkpoint" };
  if (start.model.name !== spec.model.name)
    throw mismatch(
      place,
      `was trained from ${start.model.name}, not ${spec.model.name}`,
      `Set the model to ${start.model.name}.`,
    );
  const wanted = spec.adapter;
  if (start.kind !== wanted.kind)
    throw mismatch(
      place,
      `holds ${nameOf(start.kind)}, and the run trains ${nameOf(wanted.kind)}`,
      "Use the same kind of adapter.",
    );
  if (wanted.kind === "lora") await checkAdapter(wanted, join(dir, "model"), place);
}

/** Where an adapter comes from, as errors say it. */
interface Place {
  name: string;
  where: string;
}

/** The optimizer's state, and the checkpoints to come, are of the shape that the run asks for. */
async function checkAdapter(
  wanted: TrainJob["spec"]["adapter"] & { kind: "lora" },
  dir: string,
  place: Place,
): Promise<void> {
  const adapter = await readAdapterConfig(join(dir, "adapter_config.json"), place);
  if (adapter.r !== wanted.rank)
    throw mismatch(
      place,
      `has rank ${adapter.r}, not ${wanted.rank}`,
      `Set the adapter's rank to ${adapter.r}.`,
    );
  const alpha = wanted.alpha ?? 2 * wanted.rank;
  if (Math.abs(adapter.alpha / alpha - 1) > 1e-9)
    throw mismatch(
      place,
      `has alpha ${adapter.alpha}, not ${alpha}`,
      `Set the adapter's alpha to ${adapter.alpha}.`,
    );
  const targets = [...wanted.targets].sort().join(", ");
  const found = [...adapter.targets].sort().join(", ");
  if (targets !== found)
    throw mismatch(place, `adapts ${found}, not ${targets}`, `Set the adapter's targets to ${found}.`);
}

function mismatch({ name, where }: Place, what: string, hint: string): SpotterError {
  return new SpotterError("checkpoint_mismatch", `${name} ${what}.`, { where, hint });
}

function nameOf(kind: "full" | "lora"): string {
  return kind === "full" ? "full weights" : "an adapter (LoRA)";
}

async function readAdapterConfig(file: string, { name, where }: Place): Promise<AdapterShape> {
  const text = await readFile(file, "utf8").catch(() => "null");
  const shape = adapterShape(parsed(text));
  if (shape !== undefined) return shape;
  throw new SpotterError("checkpoint_mismatch", `${name} has no usable adapter_config.json.`, {
    where,
    hint: "Start from another one.",
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
