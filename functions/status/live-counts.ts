import { RUN_STATES } from "../../sdk/schema/run.ts";
import type { Spend } from "../../sdk/schema/cost.ts";
import type { Status } from "../../sdk/schema/status.ts";
import type { Control } from "../control.ts";
import { convertJobId, LIVE_CONVERSIONS, type ConversionDocument } from "../conversions/records.ts";
import { chargeOf } from "../cost/endpoint-spend.ts";
import { spendOf } from "../cost/spend.ts";
import { ENDPOINTS, type EndpointDocument } from "../endpoints/records.ts";
import { EVALS, type EvalDocument } from "../evals/records.ts";
import { evalJobId, findJob } from "../jobs/records.ts";
import { collect } from "../records/update.ts";
import { RUNS, type RunDocument } from "../runs/records.ts";

/** How many runs there are in each state; archived ones, which lists leave out, count apart. */
export async function runCounts(control: Control): Promise<Pick<Status, "runs" | "archivedRuns">> {
  const counts = await Promise.all(
    RUN_STATES.map(async (state) => [state, await control.store.countIndex("run-state", state)] as const),
  );
  return {
    runs: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    archivedRuns: await control.store.countIndex("archived", RUNS),
  };
}

/** What all that is alive now costs, runs with their earlier attempts. */
export async function liveSpend(control: Control): Promise<Spend> {
  const { runs, evals, conversions, endpoints } = await liveRecords(control);
  const jobs = await Promise.all([
    ...lateOnes(conversions, runs).map(({ id, attempt }) => findJob(control, convertJobId(id, attempt))),
    ...evals.map(({ record }) => findJob(control, evalJobId(record.id, record.attempt))),
    ...endpoints.flatMap(({ endpoint }) => endpoint.replicas.map(({ jobId }) => findJob(control, jobId))),
  ]);
  const charges = [
    ...runs.flatMap((document) => document.charges ?? []),
    ...jobs.flatMap((job) => (job === undefined ? [] : chargeOf(job))),
  ];
  return spendOf(charges, control.clock.now());
}

/** How many runs, evals and conversions have work to do, and how many endpoints are or are becoming alive. */
export async function liveCounts(control: Control): Promise<{ works: number; endpoints: number }> {
  const { runs, evals, conversions, endpoints } = await liveRecords(control);
  // A paused run waits for people: nothing needs to be kept up for it.
  const active = runs.filter(({ run }) => run.state !== "paused");
  // Nobody launched these: while they sleep, nobody waits for them.
  const kept = endpoints.filter(({ endpoint }) => !endpoint.implicit || endpoint.desired > 0);
  return { works: active.length + evals.length + lateOnes(conversions, runs).length, endpoints: kept.length };
}

/** Conversions of a run that has ended; those of one that goes on are among its work and its charges. */
function lateOnes(conversions: ConversionDocument[], runs: RunDocument[]): ConversionDocument[] {
  return conversions.filter(({ runId }) => runs.every(({ run }) => run.id !== runId));
}

/** Everything that has not settled. */
async function liveRecords(control: Control) {
  const live = <T>(partition: string) =>
    collect<T>((after) => control.store.queryIndex<T>("live", partition, { after, limit: 1000 }));
  const [runs, evals, conversions, endpoints] = await Promise.all([
    live<RunDocument>(RUNS),
    live<EvalDocument>(EVALS),
    live<ConversionDocument>(LIVE_CONVERSIONS),
    live<EndpointDocument>(ENDPOINTS),
  ]);
  return { runs, evals, conversions, endpoints };
}
