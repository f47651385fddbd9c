import { h, type View } from "./h.ts";
import type { LogLine } from "./run-model.ts";

const SHOWN_LINES = 200;

export interface LogsProps {
  /** What the container wrote last; undefined: not asked for yet. */
  output: readonly string[] | undefined;
  onOutput?: (isOpen: boolean) => void;
}

/** What the run reported, and behind a click what its container wrote. */
export function logsView(lines: readonly LogLine[], { output, onOutput }: LogsProps): View {
  return h(
    "div",
    null,
    lines.length === 0
      ? h("p", { class: "mute" }, "Nothing reported.")
      : h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Log lines, newest first" },
          h("ol", { class: "logs" }, ...lines.slice(-SHOWN_LINES).toReversed().map(lineView)),
        ),
    outputView("Container output", output, onOutput),
  );
}

export function outputView(
  title: string,
  output: readonly string[] | undefined,
  onOutput?: (isOpen: boolean) => void,
): View {
  const text =
    output === undefined ? "Loading …" : output.length === 0 ? "Nothing written." : output.join("\n");
  return h(
    "details",
    { onToggle: (event: { target: { open: boolean } }) => onOutput?.(event.target.open) },
    h("summary", null, title),
    h("pre", { class: "output", tabindex: "0", role: "region", "aria-label": title }, text),
  );
}

function lineView({ seq, atMs, level, message }: LogLine): View {
  const time = new Date(atMs).toISOString().slice(11, 19);
  return h(
    "li",
    { key: seq, class: level },
    h("time", { class: "mute" }, time),
    level === "info" || level === "debug" ? null : h("strong", null, level),
    h("span", null, message),
  );
}
