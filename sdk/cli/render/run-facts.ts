import type { Run } from "../../schema/run.ts";
import type { Tracker } from "../../schema/tracker.ts";
import { spendText } from "./money.ts";
import { pairs } from "./table.ts";
import { durationText } from "./time.ts";
import { waitingText } from "./waiting.ts";

export interface RunFactsParams {
  nowMs: number;
  url: string;
  /** The run whose end it waits for, where that is known. */
  waitsOn: string | undefined;
  /** What it may cost. */
  maxCostUsd?: number | undefined;
  /** Who is told its metrics. */
  trackers?: readonly Tracker[] | undefined;
}

/** What most people look for. */
const FIRST_METRICS = ["reverse_kl", "reward/mean", "loss", "tokens_per_s"];

/** A run as lines of names and values, then its latest figures. */
export function runFacts(
  run: Run,
  { nowMs, url, waitsOn, maxCostUsd, trackers = [] }: RunFactsParams,
): string[] {
  const { failure } = run;
  return [
    ...pairs({
      id: run.id,
      name: run.name,
      state: stateText(run, waitsOn, nowMs),
      phase: run.phase,
      tags: run.tags.length > 0 ? run.tags.join(", ") : undefined,
      notes: run.notes,
      model: run.model,
      step: `${run.step}/${run.steps}`,
      attempt: run.attempt,
      took:
        run.startedAtMs === undefined ? undefined : durationText((run.endedAtMs ?? nowMs) - run.startedAtMs),
      spend: run.spend && spendText(run.spend, maxCostUsd),
      failure: failure && `${failure.message} [${failure.code}]`,
      hint: failure?.hint,
      url,
    }),
    ...trackers.map((each) => trackerLine(run.id, each)),
    ...metricLines(run.metrics),
  ];
}

/** Where its metrics are found besides. */
export function trackerLine(runId: string, tracker: Tracker): string {
  switch (tracker.kind) {
    case "tensorboard":
      return `TensorBoard has its metrics in ${tracker.path}/${runId}: tensorboard --logdir ${tracker.path}`;
    case "mlflow":
      return `MLflow at ${tracker.url} has its metrics in the experiment ${tracker.experiment}`;
    case "wandb":
      return `W&B at ${tracker.url} has its metrics in the project ${[tracker.entity, tracker.project].filter(Boolean).join("/")}`;
  }
}

function metricLines(metrics: Record<string, number>): string[] {
  const names = Object.keys(metrics);
  const first = FIRST_METRICS.filter((name) => names.includes(name));
  const ordered = [...first, ...names.filter((name) => !first.includes(name))];
  return pairs(Object.fromEntries(ordered.map((name) => [`  ${name}`, figure(metrics[name] ?? Number.NaN)])));
}

/** Four significant digits, and all of those before the point. */
export function figure(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4));
}

function stateText(run: Run, waitsOn: string | undefined, nowMs: number): string {
  const { state, waitingFor, pauseRequested, stalledSinceMs } = run;
  if (waitingFor) return `${state} (${waitingText(waitingFor, waitsOn)})`;
  if (pauseRequested) return `${state} (about to pause)`;
  if (stalledSinceMs === undefined) return state;
  return `${state} (no progress for ${durationText(nowMs - stalledSinceMs)})`;
}
