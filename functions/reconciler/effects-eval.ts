import type { Failure } from "../../sdk/schema/errors.ts";
import type { EvalRecord } from "../../sdk/schema/eval.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import type { Control } from "../control.ts";
import { changeEval, findEval, getEval, readEvalRows, type EvalDocument } from "../evals/records.ts";
import { tellRun } from "../evals/run-evals.ts";
import { summarize, type EvalScores } from "../evals/scores.ts";
import { isTerminalEval, nextEvalState } from "../evals/transitions.ts";
import { pricingOf } from "../cost/pricing.ts";
import { evalJobId } from "../jobs/records.ts";
import { intendJob } from "./effects-job.ts";
import { countedEnd } from "./counted-end.ts";
import { OUTCOME_CHANGES, type Outcome } from "./outcome.ts";
import type { Counts, WorkKey } from "./views.ts";

export async function beginEvalAttempt(control: Control, key: WorkKey): Promise<void> {
  const attempt = key.attempt + 1;
  const { endpoint } = await getEval(control, key.id);
  const id = evalJobId(key.id, attempt);
  // The container of a run's eval talks to no endpoint: it has the weights itself.
  const price = pricingOf(control).priceOf(undefined);
  const { maxLifetimeMs } = control.config;
  await intendJob(control, {
    id,
    kind: "eval",
    owner: key.id,
    attempt,
    endpoint,
    price,
    ...(maxLifetimeMs !== undefined && { maxLifetimeMs }),
  });
  await changeCurrent(control, key, (document) => {
    if (document.record.state !== "queued") return undefined;
    const { retryAtMs: _retryAtMs, ...rest } = document;
    const { failure: _failure, ...record } = rest.record;
    const done = rest.stream === undefined ? 0 : record.done;
    return { ...rest, record: { ...record, attempt, done, state: nextEvalState(record.state, "begin") } };
  });
}

export async function noteEvalWorking(control: Control, key: WorkKey): Promise<void> {
  await changeCurrent(control, key, (document) => ({
    ...document,
    record: { ...document.record, state: nextEvalState(document.record.state, "work") },
  }));
}

export async function requeueEval(
  control: Control,
  key: WorkKey,
  failure: Failure,
  retryAtMs: number,
  counts: Counts,
): Promise<void> {
  await changeCurrent(control, key, (document) => ({
    ...document,
    ...countedEnd(document, counts),
    retryAtMs,
    record: { ...document.record, failure, state: nextEvalState(document.record.state, "requeue") },
  }));
}

export async function finishEval(
  control: Control,
  key: WorkKey,
  outcome: Outcome,
  failure: Failure | undefined,
): Promise<void> {
  const endedAtMs = control.clock.now();
  const before = await findEval(control, key.id);
  if (before === undefined) return;
  const rows = key.attempt === 0 ? [] : await readEvalRows(control, before);
  const scores = summarize(rows, before.record.spec);
  const unjudged = outcome === "succeeded" && scores.score === undefined ? noVerdict(rows) : undefined;
  if (
    before.record.attempt === key.attempt &&
    !isTerminalEval(before.record.state) &&
    outcome !== "cancelled"
  )
    await tellRun(control, before, scores, unjudged ?? failure);
  await changeCurrent(control, key, (document) => {
    const change = OUTCOME_CHANGES[unjudged ? "failed" : outcome];
    const state = nextEvalState(document.record.state, change);
    const { failure: _earlier, ...record } = document.record;
    const why = unjudged ?? failure;
    const done = rows.length;
    const ended: EvalRecord = { ...record, ...scores, done, state, endedAtMs, ...(why && { failure: why }) };
    return { ...document, record: withoutOldScore(ended, scores) };
  });
}

function withoutOldScore(record: EvalRecord, scores: EvalScores): EvalRecord {
  return scores.score === undefined ? { ...record, score: undefined } : record;
}

/** An eval in which no answer could be judged has no mean to show: it failed, with the first cause. */
function noVerdict(rows: readonly EvalRow[]): Failure {
  const cause = rows.flatMap((row) => row.failure ?? Object.values(row.verdict.errors))[0];
  return cause === undefined
    ? { code: "eval_failed", message: "The eval ended without any answer to judge." }
    : { code: cause.code, message: `No answer got a verdict. The first cause: ${cause.message}` };
}

async function changeCurrent(
  control: Control,
  key: WorkKey,
  change: (document: EvalDocument) => EvalDocument | undefined,
): Promise<void> {
  await changeEval(control, key.id, (document) => {
    const { record } = document;
    return isTerminalEval(record.state) || record.attempt !== key.attempt ? undefined : change(document);
  });
}
