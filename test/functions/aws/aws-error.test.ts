import { expect, it } from "vitest";
import { awsError } from "../../../functions/aws/aws-error.ts";
import { loadClient } from "../../../functions/aws/load-client.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

const call = { what: "Reading s3://b/k", where: "s3://b", needs: "s3:GetObject" };

function thrown(name: string, status?: number, code?: string): Error {
  const error = Object.assign(new Error("as AWS says it"), { name });
  if (code !== undefined) Object.assign(error, { code });
  return Object.assign(error, status === undefined ? {} : { $metadata: { httpStatusCode: status } });
}

it.each([
  [thrown("AccessDenied", 403), "aws_denied", false],
  [thrown("403", 403), "aws_denied", false],
  [thrown("CredentialsProviderError"), "aws_denied", false],
  [thrown("NoSuchBucket", 404), "aws_resource_missing", false],
  [thrown("SlowDown", 503), "aws_throttled", true],
  [thrown("ThrottlingException", 400), "aws_throttled", true],
  [thrown("InternalError", 500), "aws_unreachable", true],
  [thrown("Error", undefined, "ECONNREFUSED"), "aws_unreachable", true],
  [thrown("MalformedXML", 400), "internal", false],
])("makes %s an error with a code", (error, code, retryable) => {
  expect(awsError(error, call)).toMatchObject({ code, retryable, cause: error });
});

it("names the permission that is missing, and where", () => {
  expect(awsError(thrown("AccessDenied", 403), call)).toMatchObject({
    message: "Reading s3://b/k is not allowed: as AWS says it",
    where: "s3://b",
    hint: expect.stringContaining("s3:GetObject") as string,
  });
});

it("leaves an error alone that has a code", () => {
  const error = new SpotterError("blob_corrupt", "damaged");
  expect(awsError(error, call)).toBe(error);
});

it("says which package to install", async () => {
  const load = () => Promise.reject(new Error("Cannot find package"));
  await expect(loadClient("@aws-sdk/client-s3", load)).rejects.toMatchObject({
    code: "package_missing",
    hint: "npm install @aws-sdk/client-s3",
  });
});
