import { SpotterError } from "../../../sdk/schema/errors.ts";
import { awsError } from "../aws-error.ts";

const NEEDS: Record<string, string> = {
  RunTask: "ecs:RunTask, ecs:TagResource and iam:PassRole",
  SubmitJob: "batch:SubmitJob and batch:TagResource",
};

/** The service said no, so that nothing was started. After anything else nobody knows. */
export function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error) || isThrottling(error)) return false;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status !== undefined && status >= 400 && status < 500;
}

function isThrottling({ name }: Error): boolean {
  return /Throttl|TooManyRequests|RequestLimitExceeded|RequestTimeout/.test(name);
}

/** AWS is too busy, or not to be reached: the same call may be answered in a while. */
export function isForNow(error: unknown): boolean {
  const { code } = awsError(error, { what: "The call", where: "aws" });
  return code === "aws_throttled" || code === "aws_unreachable";
}

/** A refusal that the same launch would meet again. */
export function launchRefused(error: Error, call: string, where: string): SpotterError {
  const known = awsError(error, { what: `Starting a container by ${call}`, where, needs: NEEDS[call] });
  if (known.code !== "internal") return known;
  return new SpotterError("container_failed", `AWS refused ${call}: ${error.name}: ${error.message}`, {
    hint: "Compare the stack with what `spotter doctor` expects: its roles, task and job definitions, subnets.",
    where,
    cause: error,
  });
}
