import type { SpotterError } from "../../sdk/schema/errors.ts";
import { documentResponse } from "./document.ts";
import { h } from "./views/h.ts";

/** An error for people: what happened and what to do. */
export function errorPage(error: SpotterError): Promise<Response> {
  const body = h(
    "div",
    { class: "error" },
    h("h1", null, error.message),
    error.hint === undefined ? null : h("p", null, error.hint),
    h("p", { class: "mute" }, h("code", null, error.code)),
  );
  return documentResponse({ title: "Spotter", body, status: error.status });
}
