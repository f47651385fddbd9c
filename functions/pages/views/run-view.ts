import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { Run, RunState } from "../../../sdk/schema/run.ts";
import { chartsView } from "./charts-view.ts";
import { checkpointsView } from "./checkpoints-view.ts";
import { durationText, numberText } from "./format.ts";
import { h, type Children, type View } from "./h.ts";
import { headline } from "./home-view.ts";
import { logsView, type LogsProps } from "./logs-view.ts";
import { failureView, section, stateView } from "./parts.ts";
import { rolloutsView, type RolloutsProps } from "./rollouts-view.ts";
import { remainingMs, type RunModel } from "./run-model.ts";

const KIND_WORDS = { rl: "reinforcement learning", sft: "supervised", distill: "distillation" } as const;

// The schema's own list would bring the validator into the browser.
const ENDED: readonly RunState[] = ["succeeded", "failed", "cancelled"];

export interface RunProps {
  run: Run;
  model: RunModel;
  checkpoints: readonly Checkpoint[];
  rollouts: RolloutsProps;
  logs: LogsProps;
  nowMs: number;
  /** Id of the checkpoint that is being launched, and what went wrong with it. */
  launching?: string | undefined;
  problem?: string | undefined;
  onChat?: (checkpoint: Checkpoint) => void;
  onAction?: (action: RunAction) => void;
}

/** One run: where it is, how it does, what it says, what it leaves. */
export function runView(props: RunProps): View {
  const { run, model } = props;
  return h(
    "div",
    { class: "run" },
    headView(props),
    props.problem === undefined ? null : h("p", { class: "problem", role: "alert" }, props.problem),
    run.failure === undefined ? null : failureView(run.failure),
    section("curves", "Curves", chartsView(model)),
    h(
      "div",
      { class: "columns" },
      // Supervised runs sample nothing, so there is nothing to wait for either.
      run.kind === "sft" ? null : section("rollouts", "Rollouts", rolloutsView(props.rollouts)),
      h(
        "div",
        null,
        section("checkpoints", "Checkpoints", checkpointsView(props)),
        section("logs", "Logs", logsView(model.logs, props.logs)),
      ),
    ),
  );
}

export const ACTIONS = { pause: "Pause", resume: "Resume", cancel: "Save and end" } as const;
export type RunAction = keyof typeof ACTIONS;

/** What can be asked of a run as it is now. */
export function actionsFor(run: Run): RunAction[] {
  if (hasEnded(run) || run.cancelRequested) return [];
  if (run.state === "paused") return ["resume", "cancel"];
  return run.pauseRequested ? ["cancel"] : ["pause", "cancel"];
}

export function hasEnded(run: Run): boolean {
  return ENDED.includes(run.state);
}

/** What it does right now, in words. */
export function phaseText(run: Run): string {
  if (hasEnded(run)) return "";
  if (run.cancelRequested) return "saving, then it ends";
  if (run.pauseRequested) return "saving, then it pauses";
  if (run.stalledSinceMs !== undefined) return "stalled: no step for a long time";
  if (run.waitingFor !== undefined) return `waiting for ${run.waitingFor}`;
  return run.phase === undefined ? "" : run.phase.replaceAll("-", " ");
}

function headView(props: RunProps): View {
  const { run, model, nowMs } = props;
  const phase = phaseText(run);
  const leftMs = remainingMs(model, run, nowMs);
  const result = headline(run.metrics);
  const tokens = run.metrics["tokens_per_s"];
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      { class: "title" },
      h("h1", null, run.name ?? run.id),
      h(
        "p",
        { role: "status" },
        stateView(run.state),
        phase === "" ? null : h("span", { class: "phase" }, phase),
      ),
      props.onAction === undefined ? null : actionsView(run, props.onAction),
    ),
    h(
      "p",
      { class: "mute" },
      run.name === undefined ? null : h("code", null, `${run.id} `),
      `${KIND_WORDS[run.kind]} on ${run.model}`,
      run.tags.length === 0 ? "" : ` · ${run.tags.join(", ")}`,
    ),
    run.notes === undefined ? null : h("p", { class: "notes" }, run.notes),
    h("progress", { class: "steps", max: run.steps, value: run.step, "aria-label": "Steps finished" }),
    h(
      "dl",
      { class: "stats" },
      stat("Step", `${run.step} of ${run.steps}`),
      stat(hasEnded(run) ? "Took" : "Elapsed", elapsedText(run, nowMs)),
      hasEnded(run) ? null : stat("Left", leftMs === undefined ? "–" : `about ${durationText(leftMs)}`),
      result === undefined
        ? null
        : stat(result.label === "loss" ? "Loss" : "Reward", numberText(result.value)),
      tokens === undefined ? null : stat("Tokens/s", numberText(Math.round(tokens))),
      run.spend === undefined || run.spend.usd === 0 ? null : stat("Spent", `$${run.spend.usd.toFixed(2)}`),
      run.attempt > 1 ? stat("Attempt", String(run.attempt)) : null,
    ),
  );
}

function actionsView(run: Run, onAction: (action: RunAction) => void): View {
  const buttons = actionsFor(run).map((action) =>
    h(
      "button",
      { key: action, type: "button", class: "quiet", onClick: () => onAction(action) },
      ACTIONS[action],
    ),
  );
  return h("div", { class: "actions" }, ...buttons);
}

function elapsedText(run: Run, nowMs: number): string {
  if (run.startedAtMs === undefined) return "not started";
  return durationText((run.endedAtMs ?? nowMs) - run.startedAtMs);
}

function stat(name: string, value: Children): View {
  return h("div", { key: name }, h("dt", null, name), h("dd", { class: "number" }, value));
}
