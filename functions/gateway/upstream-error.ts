import type { OpenAiErrorBody } from "../../sdk/schema/chat.ts";

export interface UpstreamError {
  status: number;
  body: OpenAiErrorBody;
}

type Inner = OpenAiErrorBody["error"];

const MAX_MESSAGE = 2_000;
/** How vLLM and SGLang word it. */
const TOO_LONG = /maximum context length|longer than the model's context length|exceeds? .*context length/i;
const NO_MODEL = /^The model `?.*`? does not exist/;

/**
 * An engine's own error in OpenAI's shape, with its status kept: `{ error: {...} }` as vLLM and SGLang write it
 * now, the flat `{ object: "error", ... }` of older ones, FastAPI's `{ detail }`, or text. A replica that does
 * not accept our key is our fault, not the client's.
 */
export function upstreamError(status: number, text: string): UpstreamError {
  if (status === 401 || status === 403)
    return { status: 502, body: { error: filled(502, "The replica did not accept the gateway's key.", {}) } };
  const value = parsed(text);
  return { status, body: { error: errorOf(status, value, text) } };
}

/** An error that came as an event. It may say which status it would have had. */
export function eventError(text: string): UpstreamError {
  const value = parsed(text);
  const inner = isObject(value?.["error"]) ? value["error"] : value;
  const code = Number(inner?.["code"] ?? inner?.["status_code"]);
  return upstreamError(code >= 400 && code < 600 ? code : 502, text);
}

function errorOf(status: number, value: Record<string, unknown> | undefined, text: string): Inner {
  const error = value?.["error"];
  if (isObject(error)) return filled(status, error["message"], error);
  if (typeof error === "string") return filled(status, error, value ?? {});
  if (value !== undefined && "detail" in value) return ofFastApi(status, value["detail"]);
  if (typeof value?.["message"] === "string") return filled(status, value["message"], value);
  // A page of HTML helps nobody.
  const isProse = value === undefined && text !== "" && !/^\s*([<{[]|null\b)/.test(text);
  return filled(status, isProse ? text.trim() : undefined, {});
}

/** `{ detail: text }`, or a list of what is wrong with the body, each with its path. */
function ofFastApi(status: number, detail: unknown): Inner {
  if (status === 404 && detail === "Not Found")
    return filled(status, "The engine of this endpoint has no such route.", { code: "unknown_url" });
  if (!Array.isArray(detail)) return filled(status, detail, {});
  const findings = detail.filter(isObject).map((finding) => ({ path: pathOf(finding["loc"]), finding }));
  const message = findings.map(({ path, finding }) => `${path}: ${textOf(finding["msg"])}`).join("; ");
  const [first] = findings;
  const code = first?.finding["type"] === "missing" ? "missing_required_parameter" : undefined;
  return filled(status, message, { param: first?.path, code });
}

/** `["body", "messages", 1, "role"]` as `messages[1].role`. */
function pathOf(loc: unknown): string {
  const parts = Array.isArray(loc) ? loc.filter((part, at) => at > 0 || part !== "body") : [];
  return parts
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

/** What is missing or not of its kind has a value that clients can read. */
function filled(status: number, message: unknown, rest: Record<string, unknown>): Inner {
  const words = textOf(message).slice(0, MAX_MESSAGE) || `The replica answered ${status}.`;
  const { type, param, code } = rest;
  const isTooLong = status === 400 && TOO_LONG.test(words);
  return {
    message: words,
    type: typeof type === "string" && /^[a-z_]+$/.test(type) ? type : typeOf(status),
    param: typeof param === "string" && param !== "" ? param : isTooLong ? "messages" : null,
    code: isTooLong ? "context_length_exceeded" : typeof code === "string" ? code : codeOf(status, words),
  };
}

function typeOf(status: number): string {
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function codeOf(status: number, message: string): string | null {
  if (status === 404 && NO_MODEL.test(message)) return "model_not_found";
  return status >= 500 ? "upstream_error" : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
