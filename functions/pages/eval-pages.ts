import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { isTerminalEval } from "../evals/transitions.ts";
import { EVALS, getOwnEval, streamOf, upToDate, type EvalDocument } from "../evals/records.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import { listRuns } from "../runs/list.ts";
import { getRunSpec } from "../runs/records.ts";
import { documentResponse } from "./document.ts";
import { hasRows } from "./new-eval.ts";
import { evalPath, evalsView } from "./views/evals-view.ts";
import { evalView } from "./views/eval-view.ts";
import { countText } from "./views/format.ts";
import { newEvalView, type EvalSource } from "./views/new-eval-view.ts";

const SHOWN = 50;
/** How often a page of something that goes on looks again. */
const REFRESH_SECONDS = 5;

/** Evals, newest first. */
export async function evalsPage(control: Control, after: string | undefined): Promise<Response> {
  const page = await control.store.query<EvalDocument>(EVALS, {
    ...{ limit: SHOWN, reverse: true },
    ...(after !== undefined && { after }),
  });
  const evals = page.items.map(({ value }) => upToDate(value).record);
  const next = page.next && `/ui/evals?after=${encodeURIComponent(page.next)}`;
  const isLive = after === undefined && evals.some(({ state }) => !isTerminalEval(state));
  return documentResponse({
    title: "Evals: Spotter",
    body: evalsView({ evals, nowMs: control.clock.now(), next }),
    ...(isLive && { refreshSeconds: REFRESH_SECONDS }),
  });
}

/** The form for a new one, with the newest runs and evals to take rows and rewards from. */
export async function newEvalPage(control: Control, from: string | undefined): Promise<Response> {
  const [evals, runs] = await Promise.all([
    control.store.query<EvalDocument>(EVALS, { limit: SHOWN, reverse: true }),
    listRuns(control, { limit: SHOWN }),
  ]);
  const specs = await Promise.all(
    runs.items.map(async (run) => ({ run, spec: await getRunSpec(control, run.id) })),
  );
  const ofRuns = specs
    .filter(({ spec }) => hasRows(spec))
    .map(({ run, spec: { dataset, evalDataset = dataset } }) => sourceOf(run, "run", evalDataset.rows));
  const ofEvals = evals.items.map(({ value: { record } }) =>
    sourceOf(record, "eval", record.spec.dataset.rows),
  );
  await control.routes.load();
  const serving = control.routes.all().filter((each) => isServing(each) && !each.implicit);
  const trained = runs.items.filter(({ step }) => step > 0);
  return documentResponse({
    title: "New eval: Spotter",
    body: newEvalView({
      sources: [...ofEvals, ...ofRuns],
      endpoints: [...serving.map(({ name }) => name), ...trained.map(({ id }) => id)],
      from,
    }),
    live: { page: "new-eval" },
  });
}

function sourceOf(
  { id, name }: { id: string; name?: string | undefined },
  what: string,
  rows: number,
): EvalSource {
  return { id, label: `${what} ${name === undefined ? id : `${name} (${id})`}, ${countText(rows, "row")}` };
}

/** An eval with some of its rows, in the order they ended. */
export async function evalPage(control: Control, id: string, after: number): Promise<Response> {
  const document = await getOwnEval(control, id);
  const { record } = document;
  const entries = await control.store.read(streamOf(document), after, SHOWN);
  const last = entries.length === SHOWN ? entries.at(-1) : undefined;
  const isLive = after === 0 && !isTerminalEval(record.state);
  return documentResponse({
    title: `${record.name ?? id}: Spotter`,
    body: evalView({
      record,
      rows: entries.map(({ value }) => value as EvalRow),
      next: last && `${evalPath(id)}?after=${last.seq}`,
      nowMs: control.clock.now(),
    }),
    ...(isLive && { refreshSeconds: REFRESH_SECONDS }),
  });
}
