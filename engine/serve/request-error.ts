import type { OpenAiErrorBody } from "../../sdk/schema/chat.ts";
import type { ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** A request this server refuses, in the words OpenAI's clients know. */
export class RequestError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(
    message: string,
    params: { status?: number; code?: string | null; param?: string | null } = {},
  ) {
    super(message);
    this.name = "RequestError";
    this.status = params.status ?? 400;
    this.code = params.code ?? null;
    this.param = params.param ?? null;
  }
}

/** Any thrown value as status and error body. */
export function openAiError(thrown: unknown): { status: number; body: OpenAiErrorBody } {
  if (thrown instanceof RequestError) {
    const { status, message, code, param } = thrown;
    return { status, body: { error: { message, type: typeOf(status), param, code } } };
  }
  const error = SpotterError.from(thrown);
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  const { status, where } = error;
  // What went wrong inside is for the log, not for the caller.
  const shown = error.code === "internal" ? "The engine failed while answering." : message;
  const param = PARAMS[error.code] ?? where ?? null;
  const code = error.code === "internal" ? "internal_error" : error.code;
  return { status, body: { error: { message: shown, type: typeOf(status), param, code } } };
}

/** Where a request says what the engine objects to. */
const PARAMS: Partial<Record<ErrorCode, string>> = { context_length_exceeded: "messages" };

function typeOf(status: number): string {
  return status >= 500 ? "server_error" : "invalid_request_error";
}
