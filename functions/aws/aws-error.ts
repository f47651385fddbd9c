import { SpotterError } from "../../sdk/schema/errors.ts";

export interface AwsCall {
  /** What was asked for, in words: "Reading s3://bucket/key". */
  what: string;
  /** The bucket, table, parameter or cluster. */
  where: string;
  /** Permissions that the role needs for it, such as "s3:GetObject". */
  needs?: string;
}

const DENIED: ReadonlySet<string> = new Set([
  "AccessDenied",
  "AccessDeniedException",
  "UnauthorizedOperation",
  "AllAccessDisabled",
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "ExpiredToken",
  "ExpiredTokenException",
  "CredentialsProviderError",
  "TokenProviderError",
]);

const THROTTLED: ReadonlySet<string> = new Set([
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "EC2ThrottledException",
  "BandwidthLimitExceeded",
  "TooManyRequestsException",
  "ProvisionedThroughputExceededException",
  "TooManyUpdates",
]);

const MISSING: ReadonlySet<string> = new Set([
  "NoSuchBucket",
  "ResourceNotFoundException",
  "ClusterNotFoundException",
]);

/** What an AWS client threw, as an error with a code; one that has a code already stays as it is. */
export function awsError(error: unknown, call: AwsCall): SpotterError {
  if (SpotterError.is(error)) return error;
  const name = awsErrorName(error);
  const status = awsStatus(error);
  const said = error instanceof Error && error.message !== "" ? error.message : name;
  const { what, where } = call;
  if (THROTTLED.has(name) || status === 429) {
    return new SpotterError("aws_throttled", `${what} was throttled by AWS for longer than we repeat it.`, {
      where,
      hint: "Try again in a moment; if it repeats, ask AWS for a higher quota of this service.",
      cause: error,
    });
  }
  if (DENIED.has(name) || status === 403 || status === 401) return denied(error, call, said);
  if (MISSING.has(name)) {
    return new SpotterError(
      "aws_resource_missing",
      `${what} failed, because ${where} does not exist: ${said}`,
      {
        where,
        hint: "Was the stack destroyed, or does it live in another region or account? `pulumi up` makes it.",
        cause: error,
      },
    );
  }
  if (isUnreachable(error, status)) {
    return new SpotterError("aws_unreachable", `${what} got no answer that counts from AWS: ${said}`, {
      where,
      hint: "Check the network and the region, then try again.",
      retryable: true,
      cause: error,
    });
  }
  return new SpotterError("internal", `${what} failed: ${name}: ${said}`, { where, cause: error });
}

/** The exception as AWS names it; "Error" for what is none of theirs. */
export function awsErrorName(error: unknown): string {
  return error instanceof Error ? error.name : "Error";
}

/** The HTTP status of the answer, if there was one. */
export function awsStatus(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("$metadata" in error)) return undefined;
  const { $metadata: metadata } = error;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return undefined;
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}

function denied(error: unknown, { what, where, needs }: AwsCall, said: string): SpotterError {
  return new SpotterError("aws_denied", `${what} is not allowed: ${said}`, {
    where,
    hint:
      needs === undefined
        ? "Check the role and its credentials."
        : `The role needs ${needs} on it. Without it, check the credentials and the policies of the account.`,
    cause: error,
  });
}

const NETWORK: ReadonlySet<string> = new Set([
  ...["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
]);

function isUnreachable(error: unknown, status: number | undefined): boolean {
  if (status !== undefined && status >= 500) return true;
  if (!(error instanceof Error)) return false;
  if (error.name === "TimeoutError" || error.name === "RequestTimeout") return true;
  return "code" in error && typeof error.code === "string" && NETWORK.has(error.code);
}
