import type { Context } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { redacted } from "../secrets/redacted.ts";
import type { Control } from "../control.ts";
import { openAiError, openAiErrorBody } from "../gateway/openai-errors.ts";
import { isGatewayPath } from "../gateway/paths.ts";
import { observationOf } from "../observability/observe.ts";
import type { Observation } from "../observability/observer.ts";

/** The one place where an error becomes an answer. Unknown errors hide their message and name the request. */
export async function errorResponse(control: Control, c: Context, thrown: unknown): Promise<Response> {
  const about = { requestId: requestId(c), method: c.req.method, path: c.req.path, seen: observationOf(c) };
  if (isGatewayPath(c.req.path)) return gatewayError(control, about, thrown);
  const known = SpotterError.is(thrown) ? thrown : hidden(control, about, thrown);
  about.seen?.failed(known.code);
  const error = withoutSecrets(control, known);
  if (isPagePath(c.req.path)) return (await import("../pages/error-page.ts")).errorPage(error);
  const headers = { "x-request-id": requestId(c) };
  return Response.json(error.toBody(), {
    status: error.status,
    headers: { ...headers, ...retryHeaders(error) },
  });
}

/** What is known of a request that failed. */
export interface Failed {
  requestId: string;
  method: string;
  path: string;
  seen: Observation | undefined;
}

/** An error in the words that OpenAI's clients understand. */
export function gatewayError(control: Control, about: Failed, thrown: unknown): Response {
  const known = SpotterError.is(thrown) ? thrown : hidden(control, about, thrown);
  about.seen?.failed(known.code);
  const body = redacted(control.secrets, openAiErrorBody(known));
  return openAiError(known, { "x-request-id": about.requestId }, body);
}

/** A client's own id if it is a plain one, else a new one. */
export function newRequestId(control: Control, c: Context): string {
  return validRequestId(c.req.header("x-request-id")) ?? control.ids.next();
}

export function validRequestId(given: unknown): string | undefined {
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : undefined;
}

export function requestId(c: Context): string {
  return (c.get as (key: string) => string | undefined)("requestId") ?? "none";
}

function hidden(control: Control, { requestId: id, method, path }: Failed, thrown: unknown): SpotterError {
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  control.log.error("request failed", { requestId: id, method, path, stack });
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
