import type { RunEvent } from "../../../sdk/schema/event.ts";
import type { Run } from "../../../sdk/schema/run.ts";

const MAX_LOG_LINES = 500;
const ETA_STEPS = 10;

/** One metric over the steps, ascending. */
export interface Series {
  steps: number[];
  values: number[];
}

export interface LogLine {
  seq: number;
  atMs: number;
  level: string;
  message: string;
}

/** What a run's events add up to. It grows in place: a long run has more events than one cares to copy. */
export interface RunModel {
  /** Metric names are the trainer's and the user's, so they are keys of a Map and never of an object. */
  series: Map<string, Series>;
  /** Changes when a series does. */
  revision: number;
  /** When the metrics of each step came, by step. */
  stepTimes: { step: number; atMs: number }[];
  /** Steps that have rollouts, ascending. */
  rolloutSteps: number[];
  /** Changes when the list of checkpoints does. */
  checkpoints: number;
  logs: LogLine[];
}

export function createRunModel(): RunModel {
  return { series: new Map(), revision: 0, stepTimes: [], rolloutSteps: [], checkpoints: 0, logs: [] };
}

/** Adds events in order. A step that is told twice, as after a lost attempt, is what was told last. */
export function applyEvents(model: RunModel, events: readonly RunEvent[]): void {
  for (const { seq, atMs, body } of events) {
    switch (body.type) {
      case "metrics":
        for (const [name, value] of Object.entries(body.metrics)) addValue(model, name, body.step, value);
        if (body.late !== true) addTime(model, body.step, atMs);
        model.revision++;
        break;
      case "rollouts":
        insert(model.rolloutSteps, body.step);
        break;
      case "checkpoint":
        model.checkpoints++;
        break;
      case "log":
        addLog(model, { seq, atMs, level: body.level, message: body.message });
        break;
      case "attempt":
        if (body.reason !== undefined)
          addLog(model, { seq, atMs, level: "warn", message: `Attempt ${body.attempt}: ${body.reason}` });
        break;
      case "state":
      case "phase":
        break;
    }
  }
}

/** Time to the last step at the median pace of the latest ones; undefined while there is no pace yet. */
export function remainingMs(model: RunModel, run: Run, nowMs: number): number | undefined {
  const last = model.stepTimes.at(-1);
  if (run.state !== "running" || last === undefined) return undefined;
  const recent = model.stepTimes.slice(-ETA_STEPS - 1);
  const paces = recent
    .flatMap(({ step, atMs }, index) => {
      const before = recent[index - 1];
      return before === undefined || step <= before.step ? [] : [(atMs - before.atMs) / (step - before.step)];
    })
    .sort((a, b) => a - b);
  const median = paces[Math.floor(paces.length / 2)];
  if (median === undefined) return undefined;
  // A step that is overdue takes no more than its own time off: the others are still to come.
  const underWayMs = Math.min(median, Math.max(0, nowMs - last.atMs));
  return Math.max(0, median * (run.steps - run.step) - underWayMs);
}

function addValue(model: RunModel, name: string, step: number, value: number): void {
  let series = model.series.get(name);
  if (series === undefined) model.series.set(name, (series = { steps: [], values: [] }));
  const at = insert(series.steps, step);
  if (at.isNew) series.values.splice(at.index, 0, value);
  else series.values[at.index] = value;
}

function addTime(model: RunModel, step: number, atMs: number): void {
  const last = model.stepTimes.at(-1);
  if (last?.step === step) return;
  // A new attempt begins again behind its checkpoint: the pace counts from there.
  if (last !== undefined && step < last.step) model.stepTimes = [];
  model.stepTimes.push({ step, atMs });
}

function addLog(model: RunModel, line: LogLine): void {
  model.logs.push(line);
  if (model.logs.length > MAX_LOG_LINES) model.logs.splice(0, model.logs.length - MAX_LOG_LINES);
}

/** Keeps numbers ascending and single. Nearly always the new one is the largest. */
function insert(sorted: number[], value: number): { index: number; isNew: boolean } {
  let index = sorted.length;
  while (index > 0 && (sorted[index - 1] ?? -Infinity) >= value) index--;
  const isNew = sorted[index] !== value;
  if (isNew) sorted.splice(index, 0, value);
  return { index, isNew };
}
