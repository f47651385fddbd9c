import type { EvalRecord, Interval } from "../../../sdk/schema/eval.ts";
import type { PassAt } from "../../../sdk/schema/pass-at.ts";
import { numberText } from "./format.ts";
import { h, type View } from "./h.ts";
import { agoView, emptyView, section, stateView } from "./parts.ts";

export interface EvalsProps {
  evals: EvalRecord[];
  nowMs: number;
  /** Leads to the next page. */
  next?: string | undefined;
}

/** All evals with their ids, to copy into `evals:` of a configuration. */
export function evalsView({ evals, nowMs, next }: EvalsProps): View {
  return h(
    "div",
    { class: "home" },
    h("h1", { class: "sr" }, "Evals"),
    section(
      "evals",
      "Evals",
      h("p", { class: "act" }, h("a", { href: "/ui/evals/new" }, "New eval")),
      evals.length === 0
        ? emptyView("No eval yet. Evaluate the project of a folder:", "npx spotter eval -d my-project")
        : h("div", null, evalTable(evals, nowMs), nextView(next), repeatView(evals[0]?.id ?? "")),
    ),
  );
}

function evalTable(evals: readonly EvalRecord[], nowMs: number): View {
  const heads = ["Eval", "Id", "State", "Endpoint", "Answers", "Score", "pass@k", "Created"];
  return h(
    "table",
    { "aria-labelledby": "evals" },
    h(
      "thead",
      null,
      h("tr", null, ...heads.map((each) => h("th", { scope: "col", class: widthOf(each) }, each))),
    ),
    h("tbody", null, ...evals.map((each) => evalRow(each, nowMs))),
  );
}

function evalRow(record: EvalRecord, nowMs: number): View {
  const { id, name, state, spec, done, total, score, passes } = record;
  return h(
    "tr",
    { key: id },
    h("th", { scope: "row" }, h("a", { href: evalPath(id) }, name ?? id)),
    h("td", null, h("code", null, id)),
    h("td", null, stateView(state)),
    h("td", { class: "wide mute" }, spec.endpoint),
    h("td", { class: "number wide" }, `${done}/${total}`),
    h("td", { class: "number" }, score === undefined ? "" : numberText(score.mean)),
    h("td", { class: "number wide" }, passText(passes, spec.passAt)),
    h("td", { class: "wide mute" }, agoView(record.createdAtMs, nowMs)),
  );
}

/** As `--pass` is written: `1@0: 25.0 %` is at temperature 0. */
function passText(passes: Record<string, Interval>, asked: readonly PassAt[]): string {
  return Object.entries(passes)
    .map(([k, { mean }]) => {
      const temperature = asked.find((each) => each.k === Number(k))?.temperature;
      return `${k}${temperature === undefined ? "" : `@${temperature}`}: ${(100 * mean).toFixed(1)} %`;
    })
    .join(", ");
}

/** How an eval is repeated while something trains. */
function repeatView(id: string): View {
  return h(
    "details",
    { class: "more" },
    h("summary", null, "Repeat one during a training"),
    h("p", null, "Copy its id into config.yml:"),
    h("pre", null, h("code", null, `evals:\n  - eval_id: ${id}\n    step: 100\n    name: "MATH"`)),
  );
}

export function nextView(href: string | undefined): View | null {
  return href === undefined ? null : h("p", null, h("a", { href }, "More"));
}

export function evalPath(id: string): string {
  return `/ui/evals/${encodeURIComponent(id)}`;
}

const WIDE_ONLY = new Set(["Endpoint", "Answers", "pass@k", "Created"]);

function widthOf(head: string): string {
  return WIDE_ONLY.has(head) ? "wide" : "";
}
