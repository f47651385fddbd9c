import { countText, numberText } from "./format.ts";
import { h, type Children, type View } from "./h.ts";
import {
  chooseRollouts,
  offeredSteps,
  SORTS,
  summarize,
  type RolloutChoice,
  type ShownRollout,
  type ShownRollouts,
  type Sort,
} from "./rollouts-model.ts";

const SHOWN_AT_FIRST = 24;
const LONG_TEXT = 1_200;

export interface RolloutsProps {
  /** Steps that have rollouts, ascending. */
  steps: readonly number[];
  shown: ShownRollouts | undefined;
  choice: RolloutChoice;
  /** Keeps to the newest step. */
  follow: boolean;
  showAll: boolean;
  problem?: string | undefined;
  onStep?: (step: number) => void;
  onFollow?: (follow: boolean) => void;
  onChoice?: (choice: RolloutChoice) => void;
  onShowAll?: () => void;
}

/** The rollouts of a step with their texts, scores and reasons. */
export function rolloutsView(props: RolloutsProps): View {
  const { shown, choice, problem } = props;
  if (shown === undefined)
    return h("p", { class: "mute" }, problem ?? "Rollouts appear here when the first step has sampled them.");
  const chosen = chooseRollouts(shown.rollouts, choice);
  const visible = props.showAll ? chosen : chosen.slice(0, SHOWN_AT_FIRST);
  const left = chosen.length - visible.length;
  const range = summarize(shown.rollouts);
  return h(
    "div",
    null,
    controls(props, shown),
    h("p", { class: "mute summary", role: "status" }, summaryText(shown, chosen.length)),
    problem === undefined ? null : h("p", { class: "problem", role: "alert" }, problem),
    h("ol", { class: "rollouts" }, ...visible.map((each) => rolloutView(each, range))),
    left === 0 ? null : h("button", { type: "button", onClick: props.onShowAll }, `Show ${left} more`),
  );
}

function controls(props: RolloutsProps, shown: ShownRollouts): View {
  const { steps, choice, onStep, onChoice, onFollow } = props;
  const at = steps.indexOf(shown.step);
  const go = (to: number | undefined) => () => to !== undefined && onStep?.(to);
  const limit = (name: "min" | "max", label: string) =>
    field(
      label,
      h("input", {
        type: "number",
        step: "any",
        value: choice[name] ?? "",
        onInput: (event: { target: { value: string } }) =>
          onChoice?.({ ...choice, [name]: numberOr(event.target.value) }),
      }),
    );
  return h(
    "div",
    { class: "controls", role: "group", "aria-label": "Which rollouts" },
    h(
      "span",
      { class: "stepper" },
      h(
        "button",
        { type: "button", "aria-label": "Previous step", disabled: at <= 0, onClick: go(steps[at - 1]) },
        "‹",
      ),
      field(
        "Step",
        h(
          "select",
          {
            value: String(shown.step),
            onChange: (event: { target: { value: string } }) => onStep?.(Number(event.target.value)),
          },
          ...offeredSteps(steps, shown.step).map((step) =>
            h("option", { key: step, value: String(step), selected: step === shown.step }, String(step)),
          ),
        ),
      ),
      h(
        "button",
        {
          type: "button",
          "aria-label": "Next step",
          disabled: at < 0 || at === steps.length - 1,
          onClick: go(steps[at + 1]),
        },
        "›",
      ),
    ),
    h(
      "label",
      { class: "check" },
      h("input", {
        type: "checkbox",
        checked: props.follow,
        onChange: (event: { target: { checked: boolean } }) => onFollow?.(event.target.checked),
      }),
      "follow the newest",
    ),
    field(
      "Sort",
      h(
        "select",
        {
          value: choice.sort,
          onChange: (event: { target: { value: string } }) =>
            onChoice?.({ ...choice, sort: event.target.value as Sort }),
        },
        ...Object.entries(SORTS).map(([value, text]) =>
          h("option", { key: value, value, selected: value === choice.sort }, text),
        ),
      ),
    ),
    h("span", { class: "together" }, limit("min", "Reward from"), limit("max", "to")),
  );
}

function rolloutView(rollout: ShownRollout, range: { low: number; high: number } | undefined): View {
  const { verdict, messages, advantage } = rollout;
  const asked = messages.findLast(({ role }) => role === "user")?.content;
  const facts = [
    `prompt ${rollout.group}`,
    `sample ${rollout.index}`,
    ...(rollout.environment === undefined ? [] : [rollout.environment]),
    ...(rollout.turns === undefined ? [] : [countText(rollout.turns, "turn")]),
    countText(rollout.tokens, "token"),
    rollout.truncated ? `${rollout.finishReason}, truncated` : rollout.finishReason,
    ...(advantage === undefined ? [] : [`advantage ${numberText(advantage)}`]),
  ];
  return h(
    "li",
    { key: rollout.index, class: "rollout" },
    totalView(verdict.total, range),
    h(
      "div",
      { class: "said" },
      asked === undefined ? null : h("p", { class: "asked" }, cut(asked)),
      longText(rollout.text),
      messages.length > 1 ? conversationView(rollout) : null,
    ),
    h("div", { class: "judged" }, scoresView(rollout), h("p", { class: "mute facts" }, facts.join(" · "))),
  );
}

/** The reward as a number, and as a bar between the step's lowest and highest. */
function totalView(total: number | undefined, range: { low: number; high: number } | undefined): View {
  if (total === undefined) return h("div", { class: "reward mute" }, "no verdict");
  const bar = range !== undefined && range.high > range.low;
  return h(
    "div",
    { class: "reward" },
    h("span", { class: "total number" }, h("span", { class: "sr" }, "reward "), numberText(total)),
    bar
      ? h("progress", { max: range.high - range.low, value: total - range.low, "aria-hidden": "true" })
      : null,
  );
}

/** Every reward with its reason; errors are why there is no verdict. */
function scoresView({ verdict }: ShownRollout): View {
  const scores = Object.entries(verdict.scores).map(
    ([name, { score, weight, precondition, reason, metrics }]) => {
      const kind = precondition ? " (precondition)" : weight === 1 ? "" : ` × ${numberText(weight)}`;
      const extra = Object.entries(metrics ?? {}).map(([key, value]) => `${key} ${numberText(value)}`);
      return pair(
        name,
        h("span", { class: "number" }, numberText(score)),
        kind,
        [reason, ...extra].filter(Boolean).join(", "),
      );
    },
  );
  const errors = Object.entries(verdict.errors).map(([name, error]) =>
    pair(name, h("code", null, error.code), "", error.message),
  );
  return h("dl", { class: "scores" }, ...scores, ...errors);
}

function pair(name: string, value: Children, kind: string, reason: string): View {
  return h(
    "div",
    { key: name },
    h("dt", null, name),
    h("dd", null, value, kind, reason === "" ? null : h("span", { class: "reason" }, ` ${reason}`)),
  );
}

function conversationView({ messages }: ShownRollout): View {
  return h(
    "details",
    null,
    h("summary", null, `Whole conversation (${messages.length} messages)`),
    ...messages.map(({ role, content }, index) =>
      h(
        "p",
        { key: index, class: "message" },
        h("span", { class: "mute" }, role),
        h("span", { class: "text" }, content),
      ),
    ),
  );
}

function longText(text: string): View {
  if (text.length <= LONG_TEXT)
    return h("p", { class: "text" }, text.trim() === "" ? h("em", { class: "mute" }, "(empty)") : text);
  return h(
    "div",
    null,
    h("p", { class: "text" }, cut(text)),
    h("details", null, h("summary", null, `All ${text.length} characters`), h("p", { class: "text" }, text)),
  );
}

function cut(text: string): string {
  return text.length <= LONG_TEXT ? text : `${text.slice(0, LONG_TEXT)} …`;
}

function summaryText({ rollouts }: ShownRollouts, chosen: number): string {
  const numbers = summarize(rollouts);
  const all = countText(rollouts.length, "rollout");
  const shown = chosen === rollouts.length ? all : `${chosen} of ${all}`;
  if (numbers === undefined) return `${shown}, none with a verdict`;
  const missing = numbers.missing === 0 ? "" : `, ${numbers.missing} without verdict`;
  return `${shown}; mean ${numberText(numbers.mean)}, from ${numberText(numbers.low)} to ${numberText(numbers.high)}${missing}`;
}

function field(label: string, control: View): View {
  return h("label", null, h("span", null, label), control);
}

function numberOr(text: string): number | undefined {
  return text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
}
