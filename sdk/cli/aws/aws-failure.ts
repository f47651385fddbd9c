import { SpotterError } from "../../schema/errors.ts";

export interface AwsCall {
  /** What was asked for, in words: "Finding the stack". */
  what: string;
  /** Permissions that it takes, such as "tag:GetResources". */
  needs: string;
}

const NO_CREDENTIALS: ReadonlySet<string> = new Set(["CredentialsProviderError", "TokenProviderError"]);
const BAD_CREDENTIALS: ReadonlySet<string> = new Set([
  ...["InvalidAccessKeyId", "SignatureDoesNotMatch", "UnrecognizedClientException", "InvalidClientTokenId"],
  ...["InvalidSignatureException", "ExpiredToken", "ExpiredTokenException", "AuthFailure"],
]);
const DENIED: ReadonlySet<string> = new Set([
  ...["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"],
]);
const THROTTLED = /Throttl|SlowDown|RequestLimitExceeded|TooManyRequests/;
const NETWORK: ReadonlySet<string> = new Set([
  ...["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
]);

export const LOGIN_HINT =
  "Log in with `aws sso login` or `aws configure`, choose a profile with AWS_PROFILE, or set AWS_ACCESS_KEY_ID " +
  "and AWS_SECRET_ACCESS_KEY.";

/** What an AWS client threw, as an error that says what to do; one that has a code already stays as it is. */
export function awsFailure(error: unknown, { what, needs }: AwsCall): SpotterError {
  if (SpotterError.is(error)) return error;
  const name = error instanceof Error ? error.name : "Error";
  const said = error instanceof Error ? error.message : String(error);
  const given = { cause: error };
  if (NO_CREDENTIALS.has(name))
    return new SpotterError("aws_denied", `There are no AWS credentials: ${said}`, {
      ...given,
      hint: LOGIN_HINT,
    });
  if (BAD_CREDENTIALS.has(name))
    return new SpotterError("aws_denied", `AWS does not accept the credentials: ${said}`, {
      ...given,
      hint: LOGIN_HINT,
    });
  const region = /^Region (is missing|not accepted)/.exec(said)?.[1];
  if (region !== undefined)
    return new SpotterError("invalid_input", region === "is missing" ? "No region is given." : said, {
      ...given,
      where: "--region",
      hint: "Give one with `--region eu-central-1`, or set AWS_REGION.",
    });
  const status = statusOf(error);
  if (DENIED.has(name) || status === 403)
    return new SpotterError("aws_denied", `${what} is not allowed: ${said}`, {
      ...given,
      hint: `The credentials need ${needs}.`,
    });
  if (THROTTLED.test(name) || status === 429)
    return new SpotterError("aws_throttled", `${what} was throttled by AWS.`, {
      ...given,
      hint: "Try again in a moment.",
    });
  if (isUnreachable(error, status))
    return new SpotterError("aws_unreachable", `${what} got no answer that counts from AWS: ${said}`, {
      ...given,
      hint: "Check the network and the region, then try again.",
      retryable: true,
    });
  return new SpotterError("internal", `${what} failed: ${name}: ${said}`, given);
}

/** Makes a call of AWS, and its failures readable. */
export async function asked<T>(call: AwsCall, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw awsFailure(error, call);
  }
}

/** For what does not exist: each service has its own word for it. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && /NotFound|NoSuchBucket/.test(error.name);
}

function statusOf(error: unknown): number | undefined {
  const metadata = (error as { $metadata?: { httpStatusCode?: unknown } } | null)?.$metadata;
  return typeof metadata?.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}

function isUnreachable(error: unknown, status: number | undefined): boolean {
  if (status !== undefined && status >= 500) return true;
  if (!(error instanceof Error)) return false;
  if (error.name === "TimeoutError" || error.name === "RequestTimeout") return true;
  return "code" in error && typeof error.code === "string" && NETWORK.has(error.code);
}
