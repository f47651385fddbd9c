import type { ModelRecord } from "../../sdk/schema/model.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { LIVE_CONVERSIONS, type ConversionDocument } from "../conversions/records.ts";
import { ENDPOINTS, type EndpointDocument } from "../endpoints/records.ts";
import { EVALS, type EvalDocument } from "../evals/records.ts";
import { MODELS } from "../models/models.ts";
import { collect } from "../records/update.ts";
import { getRunSpec, RUNS, type RunDocument, type RunSpecDocument } from "../runs/records.ts";

/** What something refers to, with who it is. */
export type References = Map<string, string>;

/** Checkpoints that an endpoint serves, a run which has not ended starts from, or a job works on, by id. */
export async function usedCheckpoints(control: Control): Promise<References> {
  const used: References = new Map();
  for (const { endpoint } of await live<EndpointDocument>(control, ENDPOINTS)) {
    if (endpoint.checkpoint !== undefined)
      used.set(endpoint.checkpoint, `endpoint ${endpoint.name} serves it`);
  }
  for (const { run } of await live<RunDocument>(control, RUNS)) {
    const { startFrom, teacher } = await getRunSpec(control, run.id);
    if (startFrom) used.set(startFrom.checkpoint, `run ${run.id} starts from it`);
    if (teacher?.checkpoint !== undefined) used.set(teacher.checkpoint, `run ${run.id} learns from it`);
  }
  for (const { run } of await live<EvalDocument>(control, EVALS)) {
    if (run !== undefined) used.set(`${run.id}@${run.step}`, `run ${run.id} has it evaluated`);
  }
  for (const { runId, step } of await live<ConversionDocument>(control, LIVE_CONVERSIONS)) {
    if (step !== undefined) used.set(`${runId}@${step}`, "its weights are being converted");
  }
  return used;
}

/** Datasets and user code that a stored run or eval names, by SHA-256. */
export async function usedContent(control: Control): Promise<Set<string>> {
  const specs = await collect<RunSpecDocument>((after) =>
    control.store.query("run-specs", { after, limit: 1_000 }),
  );
  const evals = await collect<EvalDocument>((after) => control.store.query(EVALS, { after, limit: 1_000 }));
  const used = [...specs.map(({ spec }) => spec), ...evals.map(({ record }) => record.spec)];
  return new Set(used.flatMap(hashesOf));
}

/** Stored weights, by the SHA-256 of their manifest, that a name means, an endpoint serves or a stored run names. */
export async function usedWeights(control: Control): Promise<References> {
  const used: References = new Map();
  const specs = (after: string | undefined) =>
    control.store.query<RunSpecDocument>("run-specs", { after, limit: 1_000 });
  for (const { spec } of await collect(specs))
    if (spec.model.revision !== undefined) used.set(spec.model.revision, "a stored run was trained from it");
  for (const { endpoint } of await live<EndpointDocument>(control, ENDPOINTS)) {
    if (endpoint.model.revision !== undefined)
      used.set(endpoint.model.revision, `endpoint ${endpoint.name} serves it`);
  }
  const names = (after: string | undefined) => control.store.query<ModelRecord>(MODELS, { after });
  for (const { name, sha256 } of await collect(names)) used.set(sha256, `the name ${name} means it too`);
  return used;
}

type Content = Pick<RunSpec, "dataset" | "evalDataset" | "rewards"> &
  Partial<Pick<RunSpec, "tools" | "environments" | "python">>;

function hashesOf({ dataset, evalDataset, rewards, tools, environments = [], python }: Content): string[] {
  const code = [rewards, tools, python, ...environments].map((setup) => setup?.code.sha256);
  return [dataset.sha256, evalDataset?.sha256, ...code].filter((hash) => hash !== undefined);
}

function live<T>(control: Control, partition: string): Promise<T[]> {
  return collect<T>((after) => control.store.queryIndex<T>("live", partition, { after, limit: 1_000 }));
}
