import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import type { Rollout } from "../../sdk/schema/rollout.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { escape, page, time } from "./layout.ts";
import { state } from "./list-page.ts";

const REFRESH_MS = 2_000;

export interface RunPageParams {
  run: Run;
  spec: RunSpec;
  checkpoints: readonly Checkpoint[];
  rollouts: { step: number; rollouts: Rollout[] } | undefined;
}

/** One run: where it is, how it does, what it says. */
export function runPage(control: Control, { run, spec, checkpoints, rollouts }: RunPageParams): Response {
  const body = [
    `<h1>${escape(run.name ?? run.id)}</h1>`,
    `<p>${state(run.state)} ${escape(phaseText(run))} <span class="mute">${escape(run.id)}</span></p>`,
    `<progress max="${run.steps}" value="${run.step}"></progress>`,
    `<p class="mute">Step ${run.step} of ${run.steps}, attempt ${run.attempt}. Launched ${time(run.createdAtMs)}${run.endedAtMs === undefined ? "" : `, ended ${time(run.endedAtMs)}`}.</p>`,
    run.failure === undefined ? "" : failureSection(run.failure),
    metricsSection(run.metrics),
    rollouts === undefined ? "" : rolloutsSection(rollouts),
    checkpointsSection(checkpoints),
    specSection(spec),
  ].join("\n");
  const refresh = isTerminalRun(run.state) ? {} : { refreshMs: REFRESH_MS };
  return page(control, { title: `${run.name ?? run.id}: Spotter`, body, ...refresh });
}

function phaseText(run: Run): string {
  if (run.waitingFor !== undefined) return `waiting for ${run.waitingFor}`;
  return run.phase === undefined ? "" : run.phase.replaceAll("-", " ");
}

function failureSection(failure: Failure): string {
  const hint = failure.hint === undefined ? "" : `<p>${escape(failure.hint)}</p>`;
  const log = failure.logTail?.length ? `<pre>${escape(failure.logTail.join("\n"))}</pre>` : "";
  return `<h2>What went wrong</h2><p><code>${escape(failure.code)}</code> ${escape(failure.message)}</p>${hint}${log}`;
}

function metricsSection(metrics: Record<string, number>): string {
  const rows = Object.entries(metrics).map(
    ([name, value]) =>
      `<tr><th>${escape(name)}</th><td class="number">${escape(formatNumber(value))}</td></tr>`,
  );
  return rows.length === 0 ? "" : `<h2>Latest metrics</h2><table><tbody>${rows.join("")}</tbody></table>`;
}

function rolloutsSection({ step, rollouts }: { step: number; rollouts: Rollout[] }): string {
  const items = rollouts.map((rollout) => {
    const { total } = rollout.verdict;
    const score = total === undefined ? "no verdict" : `reward ${formatNumber(total)}`;
    const asked = rollout.messages.findLast((message) => message.role === "user")?.content;
    const question = typeof asked === "string" ? `<p class="mute">${escape(asked)}</p>` : "";
    return `${question}<pre>${escape(rollout.text)}</pre><p class="mute">${escape(score)}</p>`;
  });
  return `<h2>Rollouts of step ${step}</h2>${items.join("")}`;
}

function checkpointsSection(checkpoints: readonly Checkpoint[]): string {
  const rows = checkpoints.map(
    (checkpoint) =>
      `<tr><td>${escape(checkpoint.id)}</td><td>${time(checkpoint.createdAtMs)}</td><td><code>${escape(checkpoint.path)}</code></td></tr>`,
  );
  return rows.length === 0 ? "" : `<h2>Checkpoints</h2><table><tbody>${rows.join("")}</tbody></table>`;
}

function specSection(spec: RunSpec): string {
  return `<details><summary>Settings</summary><pre>${escape(JSON.stringify(spec, undefined, 2))}</pre></details>`;
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}
