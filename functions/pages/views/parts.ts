import type { Failure } from "../../../sdk/schema/errors.ts";
import { agoText, timeText } from "./format.ts";
import { h, type Children, type View } from "./h.ts";

/** A state as a word with a dot; colour only repeats what the word says. */
export function stateView(name: string): View {
  return h("span", { class: `state ${name}` }, name);
}

/** How long ago, with the exact time as title and for machines. */
export function agoView(atMs: number, nowMs: number): View {
  const iso = new Date(atMs).toISOString();
  return h("time", { datetime: iso, title: timeText(atMs) }, agoText(atMs, nowMs));
}

export function section(id: string, title: string, ...children: Children[]): View {
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** What to do where there is nothing to see yet. */
export function emptyView(text: string, ...commands: string[]): View {
  return h(
    "div",
    { class: "empty" },
    h("p", null, text),
    ...commands.map((command) => h("pre", null, h("code", null, command))),
  );
}

export function failureView(failure: Failure): View {
  return h(
    "section",
    { class: "failure", "aria-label": "What went wrong" },
    h("p", null, h("strong", null, failure.message), " ", h("code", null, failure.code)),
    failure.hint === undefined ? null : h("p", null, failure.hint),
    failure.logTail?.length
      ? h(
          "details",
          { open: true },
          h("summary", null, "Last lines"),
          h("pre", { tabindex: "0", role: "region", "aria-label": "Last lines" }, failure.logTail.join("\n")),
        )
      : null,
  );
}
