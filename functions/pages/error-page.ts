import type { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { escape, page } from "./layout.ts";

/** An error for people: what happened and what to do. */
export function errorPage(control: Control, error: SpotterError): Response {
  const hint = error.hint === undefined ? "" : `<p>${escape(error.hint)}</p>`;
  const body = `<h1>${escape(error.message)}</h1>${hint}<p class="mute"><code>${escape(error.code)}</code></p>`;
  return page(control, { title: "Spotter", body, status: error.status });
}
