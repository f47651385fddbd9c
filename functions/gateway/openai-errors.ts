import type { OpenAiErrorBody } from "../../sdk/schema/chat.ts";
import type { SpotterError } from "../../sdk/schema/errors.ts";
import { RefusedRequest } from "./refused-request.ts";

/** Seconds after which a client may come back. SDKs obey values up to 60. */
const RETRY_AFTER_S = 5;

/** A coded error in the shape that OpenAI clients parse and retry by. */
export function openAiError(
  error: SpotterError,
  headers: Record<string, string> = {},
  body: OpenAiErrorBody = openAiErrorBody(error),
): Response {
  const all: Record<string, string> = { ...headers };
  if (error.retryable) all["retry-after"] = String(RETRY_AFTER_S);
  else if (error.status >= 500 || error.status === 409 || error.status === 429)
    all["x-should-retry"] = "false";
  const facts = error instanceof RefusedRequest ? error.openAi : undefined;
  return Response.json(body, { status: error.status, headers: { ...all, ...facts?.headers } });
}

export function openAiErrorBody(error: SpotterError): OpenAiErrorBody {
  const { code, type } = error instanceof RefusedRequest ? error.openAi : factsOf(error);
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return { error: { message, type: type ?? typeOf(error), param: error.where ?? null, code } };
}

function factsOf(error: SpotterError): { code: string | null; type?: string } {
  const code = CODES[error.code];
  return { code: code === undefined ? error.code : code };
}

function typeOf(error: SpotterError): string {
  return error.status >= 500 || error.code === "queue_full" ? "server_error" : "invalid_request_error";
}

/** Where OpenAI has a name of its own for the same thing. */
const CODES: Partial<Record<SpotterError["code"], string | null>> = {
  unauthorized: "invalid_api_key",
  forbidden: "insufficient_permissions",
  endpoint_not_ready: "model_loading",
  payload_too_large: "request_too_large",
  internal: "internal_error",
  container_failed: "upstream_error",
  timeout: "upstream_timeout",
  not_found: "unknown_url",
  route_unsupported: "unknown_url",
  method_not_allowed: "method_not_supported",
};
