import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EvalRecord } from "../../sdk/schema/eval.ts";
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
  /** The checkpoint that it serves as an adapter, where the name meant one. */
  adapter?: string;
  losses: number;
  preemptions?: number;
  retryAtMs?: number;
  cancelAtMs?: number;
}

export const EVALS = "evals";

export function evalKey(id: string): DocumentKey {
  return { partition: EVALS, sort: id };
}

/** The rows of one attempt: a new attempt asks everything again and starts an empty stream. */
export function evalStream(id: string, attempt: number): string {
  return `eval/${id}/a${attempt}`;
}

export async function findEval(control: Control, id: string): Promise<EvalDocument | undefined> {
  return (await control.store.get<EvalDocument>(evalKey(id)))?.value;
}

export async function getEval(control: Control, id: string): Promise<EvalDocument> {
  const document = await findEval(control, id);
  if (document !== undefined) return document;
  throw new SpotterError("not_found", `There is no eval ${id}.`, {
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
    const next = current && change(current.value);
    return next && { value: next, indexes: evalIndexes(next.record) };
  });
  return document?.value;
}

export function evalIndexes(record: EvalRecord): IndexEntry[] {
  return isTerminalEval(record.state) ? [] : [{ index: "live", partition: EVALS, sort: record.id }];
}
