import type { Context, Hono } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { observe } from "../observability/observe.ts";
import { authenticate } from "./authenticate.ts";
import { DEFAULT_MAX_BODY_BYTES, readJson } from "./body.ts";
import type { Route } from "./route.ts";

/** Puts a route on the app: access first, then the body and query against their schemas, then the handler. */
export function register(app: Hono, control: Control, definition: Route): void {
  app.on(definition.method.toUpperCase(), definition.path, (c) => answer(control, definition, c));
}

async function answer(control: Control, definition: Route, c: Context): Promise<Response> {
  observe(control, c, definition.path);
  const caller = await authenticate(control, c, definition.access);
  if (definition.access !== "open") control.activity.lastAtMs = control.clock.now();
  const query = definition.query && parseWith(definition.query, c.req.query(), "The query");
  const body =
    definition.body &&
    parseWith(
      definition.body,
      await readJson(c, definition.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
      "The body",
    );
  const result = await definition.handle({
    c,
    // Parsed by the schemas of this very route.
    body: body,
    query: query,
    param: (name) => c.req.param(name) ?? "",
    ...(definition.isLaunch && launchKey(c)),
    rest: () => restOf(definition.path, c.req.path),
    ...caller,
  });
  if (result instanceof Response) return result;
  if (definition.response === "empty") return new Response(null, { status: 204 });
  return Response.json(result, { status: definition.status ?? 200 });
}

function launchKey(c: Context): { launchKey?: string } {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return {};
  if (/^[!-~]{1,200}$/.test(key)) return { launchKey: key };
  throw new SpotterError("invalid_input", "The idempotency key is not 1 to 200 visible ASCII characters.", {
    where: "idempotency-key",
    hint: "A UUID makes a good one.",
  });
}

/** What `*` stands for: the part of the path behind the segments that the pattern fixes. */
function restOf(pattern: string, path: string): string {
  const fixed = pattern.split("/").length - 1;
  return path.split("/").slice(fixed).map(decoded).join("/");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new SpotterError("invalid_input", `The path has a percent escape that is not UTF-8: ${segment}`, {
      where: "path",
      hint: "Write each part of a path with encodeURIComponent.",
    });
  }
}
