import { h, type Children, type View } from "./h.ts";
import { emptyView, section } from "./parts.ts";

/** An eval or run whose rows and rewards another eval can take. */
export interface EvalSource {
  id: string;
  /** What it is called, and how many rows it has. */
  label: string;
}

export interface NewEvalProps {
  sources: EvalSource[];
  /** What may answer: names of endpoints, aliases and runs. */
  endpoints: string[];
  /** Chosen at first. */
  from?: string | undefined;
}

const KS = [1, 4, 8];

/** The form that launches an eval. */
export function newEvalView({ sources, endpoints, from }: NewEvalProps): View {
  return h(
    "div",
    { class: "home" },
    section(
      "new-eval",
      "New eval",
      sources.length === 0
        ? emptyView(
            "An eval takes its rows and rewards from a run or another eval, and there is none yet. The first one comes from a folder:",
            "npx spotter eval -d my-project",
          )
        : formView(sources, endpoints, from),
    ),
  );
}

function formView(
  sources: readonly EvalSource[],
  endpoints: readonly string[],
  from: string | undefined,
): View {
  return h(
    "form",
    { class: "sheet", id: "new-eval-form" },
    field(
      "Rows and rewards of",
      h(
        "select",
        { name: "from", required: true },
        ...sources.map(({ id, label }) =>
          h("option", { key: id, value: id, ...(id === from && { selected: true }) }, label),
        ),
      ),
    ),
    field(
      "Who answers",
      h("input", {
        ...{ name: "endpoint", list: "endpoints", required: true, maxlength: "200", autocomplete: "off" },
        placeholder: "an endpoint, an alias, a run, or run@step",
      }),
    ),
    h("datalist", { id: "endpoints" }, ...endpoints.map((name) => h("option", { key: name, value: name }))),
    field(
      "Name",
      h("input", { name: "name", maxlength: "200", placeholder: "for people", autocomplete: "off" }),
    ),
    h(
      "fieldset",
      null,
      h("legend", null, "pass@k"),
      ...KS.map((k) =>
        h(
          "label",
          { key: k },
          h("input", {
            type: "checkbox",
            name: "passAt",
            value: String(k),
            ...(k === 1 && { checked: true }),
          }),
          h("span", null, String(k)),
        ),
      ),
    ),
    field(
      "Answers to each row",
      h("input", {
        type: "number",
        name: "samplesPerRow",
        min: "1",
        max: "1024",
        step: "1",
        placeholder: "k",
      }),
      "at least the largest k, which it is by default",
    ),
    field(
      "Right from a reward of",
      h("input", { type: "number", name: "passThreshold", step: "any", value: "1", required: true }),
    ),
    h("p", { class: "problem", role: "alert", hidden: true }),
    h("p", null, h("button", { type: "submit", class: "primary" }, "Launch")),
  );
}

function field(label: string, control: Children, note = ""): View {
  return h(
    "label",
    { class: "field" },
    h("span", null, label),
    control,
    note === "" ? null : h("span", { class: "mute note" }, note),
  );
}
