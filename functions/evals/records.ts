import { SpotterError } from "../../sdk/schema/errors.ts";
import * as z from "zod/mini";
import { evalRollout, type EvalRecord } from "../../sdk/schema/eval.ts";
import { totalAnswers } from "../../sdk/schema/launch-eval.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import { answersPerRow } from "../../sdk/schema/pass-at.ts";
import type { Control } from "../control.ts";
import type { DocumentKey, IndexEntry } from "../ports/store.ts";
import { update } from "../records/update.ts";
import { isTerminalEval } from "./transitions.ts";

/** An eval as stored: what people see, and what only the reconciler needs. */
export interface EvalDocument {
  v: 1;
  record: EvalRecord;
  /** Name of the endpoint that the spec's model name meant at launch. */
  endpoint: string;
  /** Where its rows are, of all attempts. Absent: a stream for each attempt, as it was once. */
  stream?: string;
  /** The checkpoint that it serves as an adapter, where the name meant one. */
  adapter?: string;
  /** The run whose checkpoint it evaluates, and what its metrics are called there; such an eval is on no list. */
  run?: { id: string; step: number; label: string };
  losses: number;
  preemptions?: number;
  retryAtMs?: number;
  cancelAtMs?: number;
}

export const EVALS = "evals";

/** The eval of a run's checkpoint; `index` counts within the run's `evals`. */
export function runEvalId(runId: string, index: number, step: number): string {
  return `${runId}-e${index}-s${step}`;
}

export function runEvalPartition(runId: string): string {
  return `run-evals/${runId}`;
}

export function evalKey(id: string): DocumentKey {
  const runId = /^(.+)-e\d+-s\d+$/.exec(id)?.[1];
  return { partition: runId === undefined ? EVALS : runEvalPartition(runId), sort: id };
}

/** Where the rows of an eval are written down as they end; another attempt goes on with those that are not there. */
export function evalStream(id: string): string {
  return `eval/${id}`;
}

export function streamOf({ record: { id, attempt }, stream }: EvalDocument): string {
  return stream ?? `eval/${id}/a${attempt}`;
}

/** An eval as it begins. */
export function newRecord(
  id: string,
  name: string | undefined,
  spec: EvalRecord["spec"],
  createdAtMs: number,
): EvalRecord {
  return {
    v: 1,
    id,
    ...(name !== undefined && { name }),
    spec,
    state: "queued",
    attempt: 0,
    done: 0,
    total: totalAnswers(spec),
    missing: 0,
    failed: 0,
    scores: {},
    passes: {},
    createdAtMs,
  };
}

export async function findEval(control: Control, id: string): Promise<EvalDocument | undefined> {
  const document = (await control.store.get<EvalDocument>(evalKey(id)))?.value;
  return document && upToDate(document);
}

/** One that was stored before there were conversations and pass@k is one without. */
export function upToDate(document: EvalDocument): EvalDocument {
  const { record } = document;
  const spec = { ...SPEC_DEFAULTS, ...record.spec };
  return {
    ...document,
    record: { ...record, spec, failed: record.failed ?? 0, passes: record.passes ?? {} },
  };
}

const SPEC_DEFAULTS = {
  rollout: z.parse(evalRollout, {}),
  passAt: [],
  passThreshold: 1,
} satisfies Partial<EvalRecord["spec"]>;

const READ_ROWS = 1_000;

/** All rows that are recorded, each once: the word of a container that was given up may have come late. */
export async function readEvalRows(control: Control, document: EvalDocument): Promise<EvalRow[]> {
  const rows = new Map<number, EvalRow>();
  const perRow = answersPerRow(document.record.spec);
  for (let after = 0; ;) {
    const entries = await control.store.read(streamOf(document), after, READ_ROWS);
    for (const { value } of entries) {
      const row = value as EvalRow;
      const number = row.row * perRow + row.sample;
      if (!rows.has(number)) rows.set(number, row);
    }
    after = entries.at(-1)?.seq ?? after;
    if (entries.length < READ_ROWS) return [...rows.values()];
  }
}

/** Numbers of the answers that are recorded, from the first up to before the second. */
export function doneRanges(rows: readonly EvalRow[], perRow: number): [number, number][] {
  const numbers = rows.map(({ row, sample }) => row * perRow + sample).sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number) last[1]++;
    else ranges.push([number, number + 1]);
  }
  return ranges;
}

/** An eval that somebody created; those of a run are its own affair. */
export async function getOwnEval(control: Control, id: string): Promise<EvalDocument> {
  const document = await findEval(control, id);
  if (document !== undefined && document.run === undefined) return document;
  throw noEval(id);
}

export async function getEval(control: Control, id: string): Promise<EvalDocument> {
  const document = await findEval(control, id);
  if (document !== undefined) return document;
  throw noEval(id);
}

function noEval(id: string): SpotterError {
  return new SpotterError("not_found", `There is no eval ${id}.`, {
    where: id,
    hint: "`spotter eval list` shows the evals.",
  });
}

/** The only writer of eval documents after the first. `change` returns undefined to leave one as it is. */
export async function changeEval(
  control: Control,
  id: string,
  change: (current: EvalDocument) => EvalDocument | undefined,
): Promise<EvalDocument | undefined> {
  const document = await update<EvalDocument>(control.store, evalKey(id), (current) => {
    const next = current && change(upToDate(current.value));
    return next && { value: next, indexes: evalIndexes(next.record) };
  });
  return document?.value;
}

export function evalIndexes(record: EvalRecord): IndexEntry[] {
  return isTerminalEval(record.state) ? [] : [{ index: "live", partition: EVALS, sort: record.id }];
}
