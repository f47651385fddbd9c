import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { Run } from "../../../sdk/schema/run.ts";
import { numberText } from "./format.ts";
import { h, type Children, type View } from "./h.ts";
import { agoView, emptyView, section, stateView } from "./parts.ts";

export interface Overview {
  runs: Run[];
  endpoints: Endpoint[];
}

/** Runs and endpoints at a glance, newest first. */
export function homeView({ runs, endpoints }: Overview, nowMs: number): View {
  return h(
    "div",
    { class: "home" },
    h("h1", { class: "sr" }, "Runs and endpoints"),
    section("runs", "Runs", runs.length === 0 ? noRuns() : runTable(runs, nowMs)),
    section(
      "endpoints",
      "Endpoints",
      endpoints.length === 0 ? noEndpoints() : endpointTable(endpoints, nowMs),
    ),
  );
}

const HEADLINES: [metric: string, label: string][] = [
  ["reverse_kl", "reverse KL"],
  ["reward/mean", "reward"],
  ["loss", "loss"],
];

/** The one number that says how a run does: how far it is from its teacher, else its reward, else its loss. */
export function headline(metrics: Record<string, number>): { label: string; value: number } | undefined {
  const [name = "", label = ""] = HEADLINES.find(([metric]) => Object.hasOwn(metrics, metric)) ?? [];
  const value = metrics[name];
  return value === undefined ? undefined : { label, value };
}

function noRuns(): View {
  return emptyView("No run yet. See one learn to write haikus, in about two minutes:", "npm run demo");
}

function noEndpoints(): View {
  return emptyView(
    "No endpoint yet. Launch one and talk to it here:",
    "npx spotter endpoint launch spotter/nano",
  );
}

function runTable(runs: Run[], nowMs: number): View {
  return table(
    "runs",
    ["Run", "State", "Step", "Result", "Model", "Launched"],
    runs.map((run) => runRow(run, nowMs)),
  );
}

function runRow(run: Run, nowMs: number): View {
  const result = headline(run.metrics);
  return h(
    "tr",
    { key: run.id },
    h(
      "th",
      { scope: "row" },
      h("a", { href: `/ui/runs/${encodeURIComponent(run.id)}` }, run.name ?? run.id),
      run.tags.length === 0 ? null : h("span", { class: "mute tags" }, run.tags.join(", ")),
    ),
    h(
      "td",
      null,
      stateView(run.state),
      run.waitingFor === undefined ? null : h("span", { class: "mute" }, ` for ${run.waitingFor}`),
    ),
    h(
      "td",
      { class: "step" },
      h("progress", { max: run.steps, value: run.step, "aria-label": "Steps finished" }),
      h("span", { class: "number" }, `${run.step}/${run.steps}`),
    ),
    h(
      "td",
      { class: "number" },
      result === undefined
        ? ""
        : h("span", null, h("span", { class: "mute wide" }, `${result.label} `), numberText(result.value)),
    ),
    h("td", { class: "wide mute" }, run.model),
    h("td", { class: "wide mute" }, agoView(run.createdAtMs, nowMs)),
  );
}

function endpointTable(endpoints: Endpoint[], nowMs: number): View {
  const rows = endpoints.map((endpoint) => endpointRow(endpoint, nowMs));
  return table("endpoints", ["Endpoint", "State", "Serves", "Replicas", "Access", "Launched"], rows);
}

function endpointRow(endpoint: Endpoint, nowMs: number): View {
  const ready = endpoint.replicas.filter(({ state }) => state === "ready").length;
  return h(
    "tr",
    { key: endpoint.name },
    h(
      "th",
      { scope: "row" },
      h("a", { href: `/ui/endpoints/${encodeURIComponent(endpoint.name)}` }, endpoint.name),
    ),
    h("td", null, stateView(endpoint.state)),
    h("td", null, endpoint.checkpoint ?? endpoint.model.name),
    h("td", { class: "number wide" }, `${ready}/${endpoint.desired}`),
    h("td", { class: "wide mute" }, endpoint.public ? "public" : "with a key"),
    h("td", { class: "wide mute" }, agoView(endpoint.createdAtMs, nowMs)),
  );
}

const WIDE_ONLY = new Set(["Model", "Launched", "Replicas", "Access"]);

function table(label: string, heads: string[], rows: Children[]): View {
  const head = heads.map((each) =>
    h("th", { scope: "col", ...(WIDE_ONLY.has(each) && { class: "wide" }) }, each),
  );
  return h(
    "table",
    { "aria-labelledby": label },
    h("thead", null, h("tr", null, ...head)),
    h("tbody", null, ...rows),
  );
}
