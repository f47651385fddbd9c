import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { RefusedRequest } from "./refused-request.ts";

/** What clients append to their base URL. */
const CLIENT_PATH = /^(.*?)\/(chat\/completions|completions|embeddings|models|responses)(\/.*)?$/;

/** No route takes this: another verb does, or the base URL of the client is not ours, or nothing does. */
export function unknownUrl(
  control: Control,
  routes: readonly Route[],
  method: string,
  path: string,
): SpotterError {
  const allowed = verbsOf(routes, path);
  if (allowed.length > 0) {
    const allow = allowed.join(", ");
    return new RefusedRequest(
      "method_not_allowed",
      `Not allowed to ${method} on ${path}.`,
      { code: "method_not_supported", headers: { allow, "x-should-retry": "false" } },
      { hint: `Use ${allow}.` },
    );
  }
  const base = `${control.config.publicUrl()}/v1`;
  const [, before, asked] = CLIENT_PATH.exec(path) ?? [];
  const hint =
    asked !== undefined && before !== "/v1"
      ? `The base URL is ${base}: your client asked for ${before || "no path"} in front of /${asked}.`
      : `The base URL is ${base}; it has /chat/completions, /completions and /models.`;
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new SpotterError("not_found", `Unknown request URL: ${method} ${shown}.`, { hint });
}

function verbsOf(routes: readonly Route[], path: string): string[] {
  const verbs = routes
    .filter((route) => route.method !== "options" && matches(route.path, path))
    .map(({ method }) => method.toUpperCase());
  return verbs.length === 0 ? [] : [...(verbs.includes("GET") ? [...verbs, "HEAD"] : verbs), "OPTIONS"];
}

/** Patterns of the gateway are fixed, or end in `*`. */
function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
