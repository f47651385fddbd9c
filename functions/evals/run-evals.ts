import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import { type EvalRecord } from "../../sdk/schema/eval.ts";
import type { LaunchEval } from "../../sdk/schema/launch-eval.ts";
import { changedPasses } from "../../sdk/schema/pass-at.ts";
import { labelOf, type RunEval } from "../../sdk/schema/run-eval.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { evalJobId, jobKey } from "../jobs/records.ts";
import { collect, putFirst } from "../records/update.ts";
import { latestMetrics } from "../runs/latest-metrics.ts";
import { changeRun } from "../runs/records.ts";
import {
  changeEval,
  evalIndexes,
  evalKey,
  evalStream,
  findEval,
  newRecord,
  runEvalId,
  runEvalPartition,
  type EvalDocument,
} from "./records.ts";
import type { EvalScores } from "./scores.ts";
import { isTerminalEval } from "./transitions.ts";

/** What a container can ask of the engine that it brings along; everything else only an endpoint honours. */
const OPTIONS = [
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "chat_template_kwargs",
];

/**
 * Every eval that a run is to repeat exists, and can be repeated in a container of its own. Tells all findings at once.
 *
 * @throws SpotterError `not_found` for ids of no eval, `invalid_input`.
 */
export async function checkRunEvals(control: Control, { evals = [] }: Pick<RunSpec, "evals">): Promise<void> {
  const found = await Promise.all(evals.map(({ evalId }) => findSource(control, evalId)));
  const unknown = evals.flatMap(({ evalId }, index) =>
    found[index] === undefined ? [`evals.${index}.evalId: there is no eval ${evalId}`] : [],
  );
  if (unknown.length > 0)
    throw new SpotterError("not_found", `The run names unknown evals:\n  ${unknown.join("\n  ")}`, {
      where: unknown[0]?.split(":")[0],
      hint: "`spotter eval list` and the page of evals show the ids; create one with `spotter eval`.",
      status: 400,
    });
  found.forEach((source, index) => {
    const odd = Object.keys(source?.record.spec.chatOptions ?? {}).filter((key) => !OPTIONS.includes(key));
    if (odd.length === 0) return;
    throw new SpotterError(
      "invalid_input",
      `Eval ${source?.record.id} asks with ${odd.join(", ")}, which only an endpoint honours.`,
      { where: `evals.${index}.evalId`, hint: `Create one with no more than ${OPTIONS.join(", ")}.` },
    );
  });
}

/** Only evals that somebody created can be repeated. */
async function findSource(control: Control, id: string): Promise<EvalDocument | undefined> {
  const document = await findEval(control, id);
  return document?.run === undefined ? document : undefined;
}

/** Writes down which evals a new checkpoint is due for. Doing it twice writes nothing new. */
export async function beginRunEvals(
  control: Control,
  runId: string,
  step: number,
  { evals = [] }: Pick<RunSpec, "evals">,
): Promise<void> {
  const due = [...evals.entries()].filter(([, { everySteps }]) => step % everySteps === 0);
  for (const [index, setup] of due) {
    const source = await findSource(control, setup.evalId);
    if (source === undefined) continue;
    const id = runEvalId(runId, index, step);
    const record = recordOf(id, source.record.spec, setup, control.clock.now());
    const run = { id: runId, step, label: labelOf(setup) };
    const document: EvalDocument = { v: 1, record, endpoint: "", run, stream: evalStream(id), losses: 0 };
    await putFirst(control.store, evalKey(id), document, evalIndexes(record));
  }
  if (due.length > 0) control.wake();
}

function recordOf(id: string, source: LaunchEval, setup: RunEval, createdAtMs: number): EvalRecord {
  const passAt = changedPasses(source.passAt, setup.passAt ?? []);
  const spec = {
    ...source,
    passAt,
    samplesPerRow: Math.max(source.samplesPerRow, ...passAt.map(({ k }) => k)),
  };
  return newRecord(id, labelOf(setup), spec, createdAtMs);
}

/**
 * Metrics of an eval that has ended: `<label>_pass<k>` for each k that it measures. One that measures none has its
 * mean, `<label>_reward`.
 */
export function runEvalMetrics(
  label: string,
  scores: Pick<EvalScores, "score" | "passes">,
): Record<string, number> {
  const passes = Object.entries(scores.passes).map(([k, { mean }]) => [`${label}_pass${k}`, mean] as const);
  if (passes.length > 0) return Object.fromEntries(passes);
  return scores.score === undefined ? {} : { [`${label}_reward`]: scores.score.mean };
}

/** Tells the run what its checkpoint scored, or why nobody knows. */
export async function tellRun(
  control: Control,
  { run, record }: EvalDocument,
  scores: EvalScores,
  failure: Failure | undefined,
): Promise<void> {
  if (run === undefined) return;
  const { id, step, label } = run;
  const metrics = failure === undefined ? runEvalMetrics(label, scores) : {};
  await changeRun(control, id, (document) => {
    if (failure !== undefined) {
      const message = `Evaluation ${label} of step ${step} has no result (${failure.code}: ${failure.message})`;
      return { document, events: [{ type: "log", level: "warn", message }] };
    }
    const known = latestMetrics(document.run.metrics, metrics);
    return {
      document: { ...document, run: { ...document.run, metrics: known } },
      events: [{ type: "metrics", step, metrics }, ...missingNote(label, step, scores, record)],
    };
  });
}

function missingNote(label: string, step: number, { missing, failed }: EvalScores, { total }: EvalRecord) {
  if (missing === 0) return [];
  const message = `Evaluation ${label} of step ${step}: ${missing} of ${total} answers have no verdict (${failed} could not be played)`;
  return [{ type: "log", level: "warn", message } as const];
}

/** Ends what a run that is cancelled, or has failed, still has evaluated. */
export async function cancelRunEvals(control: Control, runId: string): Promise<void> {
  for (const { record } of await runEvalsOf(control, runId))
    await changeEval(control, record.id, (current) =>
      isTerminalEval(current.record.state) || current.cancelAtMs !== undefined
        ? undefined
        : { ...current, cancelAtMs: control.clock.now() },
    );
}

export async function hasPendingEvals(control: Control, runId: string): Promise<boolean> {
  return (await runEvalsOf(control, runId)).some(({ record }) => !isTerminalEval(record.state));
}

/** Removes everything of them, with their run. */
export async function removeRunEvals(control: Control, runId: string): Promise<void> {
  for (const { record } of await runEvalsOf(control, runId)) {
    for (let attempt = 1; attempt <= record.attempt; attempt++) {
      const jobId = evalJobId(record.id, attempt);
      await control.containers.forget(jobId);
      await control.store.delete(jobKey(jobId));
    }
    await control.store.deleteStream(evalStream(record.id));
    await control.store.delete(evalKey(record.id));
  }
}

function runEvalsOf(control: Control, runId: string): Promise<EvalDocument[]> {
  return collect<EvalDocument>((after) =>
    control.store.query<EvalDocument>(runEvalPartition(runId), { after, limit: 500 }),
  );
}
