import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { ENDPOINTS, type EndpointDocument } from "../endpoints/records.ts";
import { removeRunConversions } from "../conversions/run-conversions.ts";
import { removeRunEvals } from "../evals/run-evals.ts";
import { jobKey, trainJobId } from "../jobs/records.ts";
import { removePartition } from "../records/remove-partition.ts";
import { collect } from "../records/update.ts";
import {
  changeRun,
  findRun,
  getRunSpec,
  runKey,
  RUNS,
  runSpecKey,
  runStream,
  type RunDocument,
} from "./records.ts";
import { cursorPartition } from "../trackers/cursor.ts";
import { isTerminalRun } from "./transitions.ts";

/**
 * Removes a run and everything of it: checkpoints, rollouts, events, logs. Resolves when all of it is gone.
 * That it is to go is written down first, so that a restart in between finishes it.
 *
 * @throws SpotterError `conflict` while it goes on, or while something uses one of its checkpoints.
 */
export async function deleteRun(control: Control, id: string): Promise<void> {
  const document = await findRun(control, id);
  if (document === undefined) throw new SpotterError("not_found", `There is no run ${id}.`, { where: id });
  if (document.deletedAtMs === undefined) {
    await checkUnused(control, document);
    await changeRun(control, id, (current) => {
      checkEnded(current);
      const { deliveries: _untold, ...rest } = current;
      return { document: { ...rest, deletedAtMs: control.clock.now() } };
    });
  }
  await removeAll(control, id);
}

/** Finishes what an earlier process has begun to delete. What does not go must not hold up the rest. */
export async function finishDeletes(control: Control): Promise<void> {
  const left = await collect<RunDocument>((after) => control.store.queryIndex("deleted", RUNS, { after }));
  for (const { run } of left) {
    await removeAll(control, run.id).catch((error: unknown) => {
      control.log.error("a deleted run is not gone yet", { runId: run.id, error });
    });
  }
}

function checkEnded({ run }: RunDocument): void {
  if (isTerminalRun(run.state)) return;
  throw new SpotterError(
    "conflict",
    `The run ${run.id} is ${run.state}; only one that has ended can be deleted.`,
    {
      where: run.id,
      hint: `Cancel it first: spotter run cancel ${run.id}`,
    },
  );
}

async function checkUnused(control: Control, document: RunDocument): Promise<void> {
  checkEnded(document);
  const { id } = document.run;
  const isOwn = (checkpoint: string | undefined) => checkpoint?.startsWith(`${id}@`) === true;
  const endpoints = await live<EndpointDocument>(control, ENDPOINTS);
  const serving = endpoints.find(({ endpoint }) => isOwn(endpoint.checkpoint))?.endpoint;
  if (serving)
    throw inUse(
      `Endpoint ${serving.name} serves ${serving.checkpoint}`,
      `spotter endpoint stop ${serving.name}`,
    );
  for (const { run } of await live<RunDocument>(control, RUNS)) {
    const { startFrom }: RunSpec = await getRunSpec(control, run.id);
    if (isOwn(startFrom?.checkpoint))
      throw inUse(`Run ${run.id} trains on from ${startFrom?.checkpoint}`, `spotter run cancel ${run.id}`);
  }
}

function live<T>(control: Control, partition: string): Promise<T[]> {
  return collect<T>((after) => control.store.queryIndex<T>("live", partition, { after, limit: 1000 }));
}

function inUse(what: string, command: string): SpotterError {
  return new SpotterError("conflict", `${what}, so this run cannot be deleted.`, {
    hint: `Stop that first: ${command}`,
  });
}

/** Parts first, the document last: as long as it is there, whoever asks again finishes the work. */
async function removeAll(control: Control, id: string): Promise<void> {
  const document = await findRun(control, id);
  if (document === undefined) return;
  for (let attempt = 1; attempt <= document.run.attempt; attempt++) {
    const jobId = trainJobId(id, attempt);
    await control.containers.forget(jobId);
    await removePartition(control, `uploads/${jobId}`);
    await control.store.delete(jobKey(jobId));
  }
  await removeRunEvals(control, id);
  await removeRunConversions(control, id);
  await removePartition(control, `checkpoints/${id}`);
  await removePartition(control, `rollouts/${id}`);
  await removePartition(control, cursorPartition(id));
  const prefix = `runs/${id}/`;
  for (const { key } of await control.blobs.list(prefix)) await control.blobs.delete(key);
  const left = await control.blobs.list(prefix);
  if (left.length > 0) {
    throw new SpotterError("internal", `${left.length} files of run ${id} are still there.`, {
      where: control.blobs.location(left[0]?.key ?? prefix),
      hint: "Delete the run again; if that repeats, see who may write to that folder.",
    });
  }
  await control.store.deleteStream(runStream(id));
  await control.store.delete(runSpecKey(id));
  await control.store.delete(runKey(id));
}
