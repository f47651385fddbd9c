import {
  JOB_PROTOCOL,
  type ConvertJob,
  type EvalJob,
  type JobSpec,
  type ServeJob,
  type TrainJob,
} from "../../sdk/schema/job.ts";
import type { JobCheckpoint, JobFile } from "../../sdk/schema/job.ts";
import { answersPerRow } from "../../sdk/schema/pass-at.ts";
import type { DatasetRef, UserCodeRef } from "../../sdk/schema/run-spec.ts";
import { getCheckpoint, jobCheckpoint, jobFile } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { getConversion } from "../conversions/records.ts";
import { datasetBlob, getDataset } from "../datasets/datasets.ts";
import { endpointPlan, runPlan } from "../engines/engines.ts";
import { servedCheckpoint } from "../engines/served-checkpoint.ts";
import type { NativePlan } from "../../sdk/schema/native-plan.ts";
import { getEndpoint } from "../endpoints/records.ts";
import { storedFiles } from "../models/models.ts";
import { doneRanges, getEval, readEvalRows } from "../evals/records.ts";
import { getRunSpec } from "../runs/records.ts";
import { getUserCode, userCodeBlob } from "../user-code/records.ts";
import type { JobRecord } from "./records.ts";
import { accessKeyOf } from "./tokens.ts";
import { worldOf } from "./world.ts";

/** Everything a container needs to know about its job. */
export async function jobSpecOf(control: Control, job: JobRecord): Promise<JobSpec> {
  switch (job.kind) {
    case "serve":
      return serveSpec(control, job);
    case "train":
      return trainSpec(control, job);
    case "eval":
      return evalSpec(control, job);
    case "convert":
      return convertSpec(control, job);
  }
}

/** The files of a job by the part of their URL behind `/files/`: exactly what it may read. */
export function filesOf(spec: JobSpec): Map<string, JobFile> {
  const files: JobFile[] = [];
  if (spec.kind !== "eval") files.push(...(spec.modelFiles ?? []));
  if (spec.kind === "eval")
    files.push(...(spec.weights?.modelFiles ?? []), ...(spec.weights?.checkpoint.files ?? []));
  if (spec.kind === "serve") files.push(...(spec.checkpoint?.files ?? []));
  if (spec.kind === "train" || spec.kind === "convert") files.push(...(spec.start?.files ?? []));
  if (spec.kind === "convert") files.push(...(spec.state?.files ?? []));
  if (spec.kind === "train" || spec.kind === "eval") {
    files.push(spec.dataset);
    if (spec.python) files.push(spec.python.code);
  }
  if (spec.kind === "train") {
    if (spec.evalDataset) files.push(spec.evalDataset);
    files.push(...(spec.resume?.files ?? []));
  }
  return new Map(files.map((file) => [keyOf(file.url), file]));
}

function keyOf(url: string): string {
  const path = new URL(url).pathname;
  return decodeURI(path.slice(path.indexOf("/files/") + "/files/".length));
}

async function serveSpec(control: Control, job: JobRecord): Promise<ServeJob> {
  const { endpoint } = await getEndpoint(control, job.owner);
  const checkpoint =
    endpoint.checkpoint === undefined ? undefined : await getCheckpoint(control, endpoint.checkpoint);
  // An adapter lies on the very weights it was trained on; full weights need no others.
  const base = checkpoint === undefined ? endpoint.model : checkpoint.model;
  const modelFiles = checkpoint?.kind === "full" ? undefined : await storedFiles(control, job.id, base);
  return {
    ...common(control, job),
    kind: "serve",
    ...native(
      endpointPlan(endpoint.name, endpoint, checkpoint && (await servedCheckpoint(control, checkpoint))),
    ),
    endpoint: endpoint.name,
    accessKey: accessKeyOf(job),
    model: endpoint.model,
    ...(modelFiles && { modelFiles }),
    ...(checkpoint && { checkpoint: jobCheckpoint(control, job.id, checkpoint, ["model"]) }),
  };
}

async function trainSpec(control: Control, job: JobRecord): Promise<TrainJob> {
  const spec = await getRunSpec(control, job.owner);
  const last = job.resume === undefined ? undefined : await getCheckpoint(control, job.resume);
  const start = spec.startFrom && (await getCheckpoint(control, spec.startFrom.checkpoint));
  const modelFiles = await storedFiles(control, job.id, spec.model);
  const startParts = spec.startFrom?.mode === "weights" ? (["model"] as const) : BOTH;
  return {
    ...common(control, job),
    kind: "train",
    ...native(runPlan(spec, start)),
    runId: job.owner,
    spec,
    ...(modelFiles && { modelFiles }),
    ...(await worldOf(control, spec)),
    ...(spec.python && { python: await pythonOf(control, job, spec.python.code) }),
    dataset: await datasetFile(control, job, spec.dataset),
    ...(spec.evalDataset && { evalDataset: await datasetFile(control, job, spec.evalDataset) }),
    ...(last && { resume: jobCheckpoint(control, job.id, last, BOTH) }),
    ...(start && { start: jobCheckpoint(control, job.id, start, startParts) }),
  };
}

function native(plan: NativePlan | undefined): { native?: NativePlan } {
  return plan === undefined ? {} : { native: plan };
}

/** What only the container runs goes there, with what it was granted. */
async function pythonOf(control: Control, job: JobRecord, { sha256, secrets }: UserCodeRef) {
  const { bytes: size } = await getUserCode(control, sha256);
  return {
    code: jobFile(control, job.id, userCodeBlob(sha256), { size, sha256 }),
    secrets: secrets.length > 0 ? await control.secrets.resolve(secrets) : {},
  };
}

const BOTH = ["model", "trainer"] as const;

async function evalSpec(control: Control, job: JobRecord): Promise<EvalJob> {
  const document = await getEval(control, job.owner);
  const { record, endpoint, adapter } = document;
  const { spec } = record;
  const rows = await readEvalRows(control, document);
  const { run } = document;
  return {
    ...common(control, job),
    kind: "eval",
    evalId: record.id,
    spec,
    ...(await worldOf(control, spec)),
    ...(spec.python && { python: await pythonOf(control, job, spec.python.code) }),
    dataset: await datasetFile(control, job, spec.dataset),
    done: doneRanges(rows, answersPerRow(spec)),
    ...(run === undefined
      ? {
          chatUrl: `${control.config.publicUrl()}/v1`,
          model: adapter === undefined ? endpoint : `${endpoint}:${adapter}`,
        }
      : { weights: await weightsOf(control, job, `${run.id}@${run.step}`) }),
  };
}

async function convertSpec(control: Control, job: JobRecord): Promise<ConvertJob> {
  const { runId, step } = await getConversion(control, job.owner);
  const spec = await getRunSpec(control, runId);
  const { startFrom, model } = spec;
  // What its run began with may be deleted by the time that somebody asks for the weights of a checkpoint.
  const start =
    step === undefined && startFrom ? await getCheckpoint(control, startFrom.checkpoint) : undefined;
  const modelFiles = await storedFiles(control, job.id, model);
  return {
    ...common(control, job),
    kind: "convert",
    ...native(runPlan(spec, start)),
    model,
    ...(modelFiles && { modelFiles }),
    ...(step === undefined
      ? start && startFrom?.mode === "weights" && { start: jobCheckpoint(control, job.id, start, ["model"]) }
      : { state: await shardsOf(control, job, `${runId}@${step}`) }),
  };
}

/** Megatron's shards of a checkpoint, without what else its trainer needs to go on. */
async function shardsOf(control: Control, job: JobRecord, id: string): Promise<JobCheckpoint> {
  const state = jobCheckpoint(control, job.id, await getCheckpoint(control, id), ["trainer"]);
  return { ...state, files: state.files.filter(({ path }) => path.startsWith("trainer/iter_")) };
}

/** A checkpoint with the model under it, for a container that plays with them itself. */
async function weightsOf(control: Control, job: JobRecord, id: string): Promise<EvalJob["weights"]> {
  const checkpoint = await getCheckpoint(control, id);
  const modelFiles =
    checkpoint.kind === "full" ? undefined : await storedFiles(control, job.id, checkpoint.model);
  return {
    checkpoint: jobCheckpoint(control, job.id, checkpoint, ["model"]),
    ...(modelFiles && { modelFiles }),
  };
}

function common(control: Control, job: JobRecord) {
  return {
    protocol: JOB_PROTOCOL,
    id: job.id,
    attempt: job.attempt,
    heartbeatEveryMs: control.config.heartbeatEveryMs,
    threads: control.config.threads,
  } as const;
}

async function datasetFile(control: Control, job: JobRecord, ref: DatasetRef): Promise<JobFile> {
  const record = await getDataset(control, ref.sha256);
  return jobFile(control, job.id, datasetBlob(ref.sha256), { size: record.bytes, sha256: ref.sha256 });
}
