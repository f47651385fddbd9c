import type { EvalRecord, Interval } from "../../../sdk/schema/eval.ts";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import { passLabel } from "../../../sdk/schema/pass-at.ts";
import { countText, numberText } from "./format.ts";
import { h, type Children, type View } from "./h.ts";
import { nextView } from "./evals-view.ts";
import { agoView, emptyView, failureView, section, stateView } from "./parts.ts";

export interface EvalProps {
  record: EvalRecord;
  rows: EvalRow[];
  /** Leads to further rows. */
  next?: string | undefined;
  nowMs: number;
}

/** An eval: its scores, and every conversation with what was thought of it. */
export function evalView({ record, rows, next, nowMs }: EvalProps): View {
  const { id, name, state, spec, done, total, failure } = record;
  return h(
    "div",
    { class: "eval" },
    h(
      "header",
      { class: "head" },
      h(
        "div",
        { class: "title" },
        h("h1", null, name ?? id),
        h(
          "p",
          { role: "status" },
          stateView(state),
          h("span", { class: "phase" }, ` ${done}/${total} answers`),
        ),
      ),
      h(
        "p",
        { class: "mute" },
        "Id ",
        h("code", null, id),
        ` · ${spec.endpoint} · ${countText(spec.dataset.rows, "row")} · created `,
        agoView(record.createdAtMs, nowMs),
        " · ",
        h("a", { href: `/ui/evals/new?from=${encodeURIComponent(id)}` }, "New eval with these rows"),
      ),
    ),
    failure === undefined ? null : failureView(failure),
    section("scores", "Scores", scoresView(record)),
    section(
      "rows",
      "Rows",
      rows.length === 0
        ? emptyView("No row has been judged yet.")
        : h("ol", { class: "rollouts" }, ...rows.map(rowView)),
      nextView(next),
    ),
  );
}

/** Means and pass@k with their intervals, and what is in none of them. */
function scoresView({ score, scores, passes, missing, failed, spec, total }: EvalRecord): View {
  const lines = [
    ...(score === undefined ? [] : [intervalView("total", score)]),
    ...Object.entries(scores).map(([name, each]) => intervalView(name, each)),
    ...Object.entries(passes).map(([k, each]) => intervalView(passLabel(k, spec.passAt), each)),
    ...(missing === 0
      ? []
      : [fact("no verdict", `${missing} of ${total}, ${failed} of them could not be played`)]),
  ];
  if (lines.length === 0) return h("p", { class: "mute" }, "They come when all is judged.");
  return h(
    "div",
    null,
    h("dl", { class: "scores" }, ...lines),
    spec.passAt.length === 0
      ? null
      : h(
          "p",
          { class: "mute" },
          `An answer is right with a reward of ${numberText(spec.passThreshold)} or more.`,
        ),
  );
}

function intervalView(name: string, { mean, low, high, n }: Interval): View {
  return fact(name, numberText(mean), ` 95 %: ${numberText(low)} to ${numberText(high)}, n = ${n}`);
}

function fact(name: string, value: Children, more = ""): View {
  return h(
    "div",
    { key: name },
    h("dt", null, name),
    h("dd", null, h("span", { class: "number" }, value), h("span", { class: "reason" }, more)),
  );
}

function rowView(row: EvalRow): View {
  const { verdict, messages = [], turns, truncated, temperature, failure } = row;
  const asked = messages.findLast(({ role }) => role === "user")?.content;
  const facts = [
    `row ${row.row}`,
    `sample ${row.sample}`,
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(turns === undefined ? [] : [countText(turns, "turn")]),
    countText(row.tokens, "token"),
    truncated ? `${row.finishReason}, truncated` : row.finishReason,
  ];
  return h(
    "li",
    { key: `${row.row}/${row.sample}`, class: "rollout" },
    h("div", { class: "reward" }, rewardView(row)),
    h(
      "div",
      { class: "said" },
      asked === undefined ? null : h("p", { class: "asked" }, textOf(asked)),
      h("p", { class: "text" }, row.text.trim() === "" ? h("em", { class: "mute" }, "(empty)") : row.text),
      messages.length > 2 ? conversationView(messages) : null,
    ),
    h(
      "div",
      { class: "judged" },
      h(
        "dl",
        { class: "scores" },
        ...Object.entries(verdict.scores).map(([name, { score, reason = "" }]) =>
          fact(name, numberText(score), reason === "" ? "" : ` ${reason}`),
        ),
        ...Object.entries(verdict.errors).map(([name, error]) =>
          fact(name, h("code", null, error.code), ` ${error.message}`),
        ),
        failure === undefined ? null : fact("error", h("code", null, failure.code), ` ${failure.message}`),
      ),
      h("p", { class: "mute facts" }, facts.join(" · ")),
    ),
  );
}

/** A score, or in words that there is none: that is not 0. */
function rewardView({ verdict: { total }, failure }: EvalRow): View {
  if (failure !== undefined) return h("span", { class: "mute" }, "not played");
  if (total === undefined) return h("span", { class: "mute" }, "no verdict");
  return h("span", { class: "total number" }, h("span", { class: "sr" }, "reward "), numberText(total));
}

function conversationView(messages: NonNullable<EvalRow["messages"]>): View {
  return h(
    "details",
    null,
    h("summary", null, `Whole conversation (${messages.length} messages)`),
    ...messages.map((message, index) =>
      h(
        "p",
        { key: index, class: "message" },
        h("span", { class: "mute" }, message.role),
        h("span", { class: "text" }, saidIn(message)),
      ),
    ),
  );
}

/** What a message says; one that only calls tools says what it calls. */
function saidIn({ content, tool_calls: calls }: NonNullable<EvalRow["messages"]>[number]): string {
  const text = textOf(content);
  return calls === undefined ? text : `${text}\n${JSON.stringify(calls)}`.trim();
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}
