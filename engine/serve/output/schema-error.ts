import { RequestError } from "../request-error.ts";

/** What of a JSON schema this engine cannot keep an answer to. `path` is the way to it in the request. */
export function unsupportedSchema(path: string, what: string): RequestError {
  return new RequestError(`Unsupported JSON schema: '${path}' ${what}.`, {
    code: "unsupported_value",
    param: path,
  });
}

/** What is no JSON schema. */
export function invalidSchema(path: string, what: string): RequestError {
  return new RequestError(`Invalid JSON schema: '${path}' ${what}.`, { code: "invalid_value", param: path });
}
