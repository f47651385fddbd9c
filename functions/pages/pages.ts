import { SpotterError } from "../../sdk/schema/errors.ts";
import { listCheckpoints } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { getEndpoint } from "../endpoints/records.ts";
import { getRun, getRunSpec } from "../runs/records.ts";
import { documentResponse } from "./document.ts";
import { readOverview } from "./overview.ts";
import { readShownRollouts } from "./shown-rollouts.ts";
import { endpointView } from "./views/endpoint-view.ts";
import { h } from "./views/h.ts";
import { homeView } from "./views/home-view.ts";
import { createRunModel } from "./views/run-model.ts";
import { runView } from "./views/run-view.ts";

/** After the one-time code: a page of ours that leads on, now that the cookie is there. */
export function openedPage(to: string): Promise<Response> {
  return documentResponse({
    title: "Spotter",
    body: h("p", null, h("a", { href: to }, "Continue")),
    goTo: to,
  });
}

export async function homePage(control: Control): Promise<Response> {
  const body = homeView(await readOverview(control), control.clock.now());
  return documentResponse({ title: "Spotter", body, live: { page: "home" } });
}

/** The run as it is now; the script adds the curves and keeps it current. */
export async function runPage(control: Control, id: string): Promise<Response> {
  const { run } = await getRun(control, id);
  const [spec, checkpoints, shown] = await Promise.all([
    getRunSpec(control, id),
    listCheckpoints(control, id),
    readShownRollouts(control, id, undefined).catch(noRollouts),
  ]);
  const body = runView({
    run,
    model: createRunModel(),
    checkpoints,
    rollouts: { steps: [], shown, choice: { sort: "best" }, follow: true, showAll: false },
    logs: { output: undefined },
    nowMs: control.clock.now(),
  });
  const settings = h(
    "details",
    { class: "settings" },
    h("summary", null, "Settings"),
    h("pre", { tabindex: "0", role: "region", "aria-label": "Settings" }, JSON.stringify(spec, undefined, 2)),
  );
  return documentResponse({
    title: `${run.name ?? run.id}: Spotter`,
    body,
    after: settings,
    live: { page: "run", id },
  });
}

export async function endpointPage(control: Control, name: string): Promise<Response> {
  const { endpoint } = await getEndpoint(control, name);
  const body = endpointView({
    endpoint: { ...endpoint, url: `${control.config.publicUrl()}/v1` },
    chat: { turns: [], isBusy: false, canSend: false },
    logs: { output: undefined },
    nowMs: control.clock.now(),
  });
  return documentResponse({ title: `${name}: Spotter`, body, live: { page: "endpoint", id: name } });
}

function noRollouts(error: unknown): undefined {
  if (SpotterError.is(error) && error.code === "not_found") return undefined;
  throw error;
}
