import * as z from "zod/mini";
import { ERROR_CODES, type ErrorCode, type ErrorKind } from "./error-codes.ts";

const marker = Symbol.for("spotter.error");

export interface SpotterErrorParams {
  /** What to do about it. */
  hint?: string | undefined;
  /** file:line or key path. */
  where?: string | undefined;
  /** Whether the same call may succeed later. Default: true for kind "capacity". */
  retryable?: boolean | undefined;
  /** HTTP status, where it differs from what the code implies. */
  status?: number | undefined;
  cause?: unknown;
}

/**
 * The one error class. `code` is stable and listed in docs/errors.md; `message` says what happened and
 * where, `hint` how to fix it.
 *
 * @example
 * try { await run.result(); } catch (error) {
 *   if (SpotterError.is(error) && error.code === "run_failed") console.error(error.message, error.hint);
 * }
 */
export class SpotterError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  readonly where: string | undefined;
  readonly retryable: boolean;
  readonly status: number;

  constructor(code: ErrorCode, message: string, params: SpotterErrorParams = {}) {
    super(message, params.cause === undefined ? undefined : { cause: params.cause });
    this.name = "SpotterError";
    this.code = code;
    this.kind = ERROR_CODES[code];
    this.hint = params.hint;
    this.where = params.where;
    this.retryable = params.retryable ?? this.kind === "capacity";
    this.status = params.status ?? statusOf(code);
    Object.defineProperty(this, marker, { value: true });
  }

  /** True for errors of any copy of this package, not only this one. */
  static is(value: unknown): value is SpotterError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[marker] === true;
  }

  /** Any thrown value as a SpotterError; unknown ones become `internal` and keep their cause. */
  static from(value: unknown): SpotterError {
    if (SpotterError.is(value)) return value;
    const message = value instanceof Error ? value.message : String(value);
    return new SpotterError("internal", message, { cause: value });
  }

  toBody(): ErrorBody {
    return {
      error: {
        code: this.code,
        kind: this.kind,
        message: this.message,
        ...(this.hint === undefined ? {} : { hint: this.hint }),
        ...(this.where === undefined ? {} : { where: this.where }),
      },
    };
  }

  static fromBody(body: ErrorBody, status: number): SpotterError {
    const { code, message, hint, where } = body.error;
    return new SpotterError(code in ERROR_CODES ? (code as ErrorCode) : "internal", message, {
      hint,
      where,
      status,
    });
  }
}

/** The error body of every control-plane route, of stored failures and of `--json` output. */
export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    kind: z.string(),
    message: z.string(),
    hint: z.optional(z.string()),
    where: z.optional(z.string()),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** A failure kept in a record: the body's inner part and the last lines the container logged. */
export const failure = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.optional(z.string()),
  logTail: z.optional(z.array(z.string())),
});
export type Failure = z.infer<typeof failure>;

const STATUS: Partial<Record<ErrorCode, number>> = {
  not_found: 404,
  model_not_found: 404,
  checkpoint_not_found: 404,
  dataset_not_found: 404,
  conflict: 409,
  store_conflict: 409,
  unauthorized: 401,
  forbidden: 403,
  hub_gated: 403,
  payload_too_large: 413,
  attempt_stale: 410,
  route_unsupported: 404,
  method_not_allowed: 405,
  queue_full: 429,
  rate_limited: 429,
  quota_exhausted: 429,
  hub_rate_limited: 429,
  capacity: 503,
  no_capacity: 503,
  preempted: 503,
  endpoint_not_ready: 503,
  disk_full: 507,
  aws_throttled: 503,
  user_cancelled: 499,
  aws_config_invalid: 500,
  timeout: 504,
};

function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? (ERROR_CODES[code] === "user" ? 400 : 500);
}
