import type { Context } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { redacted } from "../secrets/redacted.ts";
import type { Control } from "../control.ts";
import { openAiError, openAiErrorBody } from "../gateway/openai-errors.ts";
import { observationOf } from "../observability/observe.ts";

/** The one place where an error becomes an answer. Unknown errors hide their message and name the request. */
export async function errorResponse(control: Control, c: Context, thrown: unknown): Promise<Response> {
  const known = SpotterError.is(thrown) ? thrown : hidden(control, c, thrown);
  observationOf(c)?.failed(known.code);
  if (isGatewayPath(c.req.path)) {
    const body = redacted(control.secrets, openAiErrorBody(known));
    return openAiError(known, { "x-request-id": requestId(c) }, body);
  }
  const error = withoutSecrets(control, known);
  if (isPagePath(c.req.path)) return (await import("../pages/error-page.ts")).errorPage(error);
  const headers = { "x-request-id": requestId(c) };
  return Response.json(error.toBody(), {
    status: error.status,
    headers: { ...headers, ...retryHeaders(error) },
  });
}

/** A client's own id if it is a plain one, else a new one. */
export function newRequestId(control: Control, c: Context): string {
  const given = c.req.header("x-request-id");
  return given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : control.ids.next();
}

export function requestId(c: Context): string {
  return (c.get as (key: string) => string | undefined)("requestId") ?? "none";
}

function hidden(control: Control, c: Context, thrown: unknown): SpotterError {
  const id = requestId(c);
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  control.log.error("request failed", { requestId: id, method: c.req.method, path: c.req.path, stack });
  return new SpotterError("internal", `Something went wrong here; the request was ${id}.`, {
    hint: "Look for this id in the daemon's log.",
  });
}

/** What user code or a container said may be part of the message. */
function withoutSecrets(control: Control, error: SpotterError): SpotterError {
  const body = error.toBody();
  const safe = redacted(control.secrets, body);
  if (safe === body) return error;
  const { message, hint, where } = safe.error;
  return new SpotterError(error.code, message, {
    hint,
    where,
    status: error.status,
    retryable: error.retryable,
  });
}

function retryHeaders(error: SpotterError): Record<string, string> {
  return error.retryable ? { "retry-after": "5" } : {};
}

function isPagePath(path: string): boolean {
  return path === "/ui" || (path.startsWith("/ui/") && !path.startsWith("/ui/api/"));
}

function isGatewayPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}
