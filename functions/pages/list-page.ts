import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import { escape, page, time } from "./layout.ts";

const REFRESH_MS = 5_000;

/** Runs and endpoints at a glance. */
export function listPage(control: Control, runs: readonly Run[], endpoints: readonly Endpoint[]): Response {
  const body = `
<h1>Runs</h1>
${runs.length === 0 ? `<p class="mute">No run yet.</p>` : table(["Run", "State", "Steps", "Model", "Since"], runs.map(runRow))}
<h1>Endpoints</h1>
${endpoints.length === 0 ? `<p class="mute">No endpoint yet.</p>` : table(["Endpoint", "State", "Model", "Since"], endpoints.map(endpointRow))}`;
  return page(control, { title: "Spotter", body, refreshMs: REFRESH_MS });
}

function table(heads: string[], rows: string[]): string {
  const head = heads.map((each) => `<th>${each}</th>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function runRow(run: Run): string {
  const link = `<a href="/ui/runs/${encodeURIComponent(run.id)}">${escape(run.name ?? run.id)}</a>`;
  return `<tr><td>${link}</td><td>${state(run.state)}</td><td class="number">${run.step} / ${run.steps}</td><td>${escape(run.model)}</td><td>${time(run.createdAtMs)}</td></tr>`;
}

function endpointRow(endpoint: Endpoint): string {
  const model = endpoint.checkpoint ?? endpoint.model.name;
  return `<tr><td>${escape(endpoint.name)}</td><td>${state(endpoint.state)}</td><td>${escape(model)}</td><td>${time(endpoint.createdAtMs)}</td></tr>`;
}

export function state(name: string): string {
  return `<span class="state ${escape(name)}">${escape(name)}</span>`;
}
