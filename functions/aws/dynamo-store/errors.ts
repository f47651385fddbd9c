import { SpotterError } from "../../../sdk/schema/errors.ts";

const THROTTLED: ReadonlySet<string> = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
]);
const REFUSED: ReadonlySet<string> = new Set([
  "AccessDeniedException",
  "CredentialsProviderError",
  "ExpiredTokenException",
  "InvalidSignatureException",
  "MissingAuthenticationTokenException",
  "TokenRefreshRequired",
  "UnrecognizedClientException",
]);
const AWAY: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "InternalServerError",
  "RequestTimeout",
  "ServiceUnavailable",
  "TimeoutError",
]);

/** What DynamoDB or its client says, as an error that tells what to do. */
export function tableError(error: unknown, table: string): SpotterError {
  if (SpotterError.is(error)) return error;
  const { name, code, message, status } = detailsOf(error);
  if (name === "ResourceNotFoundException") {
    return unavailable(error, `There is no table ${table} in this account and region.`, false, {
      where: table,
      hint: "Deploy the stack again with `spotter deploy`, or correct the table's name and the region.",
    });
  }
  if (THROTTLED.has(name)) {
    return unavailable(error, `The table ${table} kept refusing more requests: ${message}`, true, {
      where: table,
      hint: "Try again in a minute; if it stays, see the table's limits and the account's quotas.",
    });
  }
  if (REFUSED.has(name)) {
    return unavailable(error, `AWS does not let this process use the table ${table}: ${message}`, false, {
      where: table,
      hint: "Give it credentials of a role that may read and write this table (`aws sts get-caller-identity`).",
    });
  }
  if (AWAY.has(name) || AWAY.has(code) || status >= 500) {
    return unavailable(error, `The table ${table} does not answer: ${message}`, true, {
      where: table,
      hint: "Try again; if it stays, check the network and the region.",
    });
  }
  return new SpotterError("internal", `DynamoDB refused: ${message}`, { where: table, cause: error });
}

/** Whether a condition did not hold; the only failure that is part of the normal course. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

function unavailable(
  cause: unknown,
  message: string,
  retryable: boolean,
  more: { where: string; hint: string },
): SpotterError {
  return new SpotterError("store_unavailable", message, { ...more, retryable, cause });
}

function detailsOf(error: unknown) {
  const fields = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const metadata = (fields["$metadata"] ?? {}) as { httpStatusCode?: number };
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    name: text(fields["name"]),
    code: text(fields["code"]),
    message: text(fields["message"]) || text(fields["code"]) || "no reason given",
    status: metadata.httpStatusCode ?? 0,
  };
}
