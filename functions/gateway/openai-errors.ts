import type { OpenAiErrorBody } from "../../sdk/schema/chat.ts";
import type { SpotterError } from "../../sdk/schema/errors.ts";

/** Seconds after which a client may come back. SDKs obey values up to 60. */
const RETRY_AFTER_S = 5;

/** A coded error in the shape that OpenAI clients parse and retry by. */
export function openAiError(error: SpotterError, headers: Record<string, string> = {}): Response {
  const all: Record<string, string> = { ...headers };
  if (error.retryable) all["retry-after"] = String(RETRY_AFTER_S);
  else if (error.status >= 500 || error.status === 409 || error.status === 429)
    all["x-should-retry"] = "false";
  if (error.status === 405) all["allow"] = "POST";
  return Response.json(openAiErrorBody(error), { status: error.status, headers: all });
}

export function openAiErrorBody(error: SpotterError): OpenAiErrorBody {
  const type = error.status >= 500 || error.code === "queue_full" ? "server_error" : "invalid_request_error";
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return { error: { message, type, param: error.where ?? null, code: CODES[error.code] ?? error.code } };
}

/** Where OpenAI has a name of its own for the same thing. */
const CODES: Partial<Record<SpotterError["code"], string>> = {
  unauthorized: "invalid_api_key",
  forbidden: "insufficient_permissions",
  endpoint_not_ready: "model_loading",
  payload_too_large: "request_too_large",
  internal: "internal_error",
  container_failed: "upstream_error",
};
