import type { Protocol } from "./protocol.ts";
import type { Shape } from "./schema.ts";

/** AWS JSON 1.1: everything is `POST /`, and X-Amz-Target names the operation. */
export const jsonProtocol: Protocol = {
  operationOf({ headers }, { mark }) {
    const [prefix, operation] = String(headers["x-amz-target"] ?? "").split(".");
    return prefix === mark ? operation : undefined;
  },
  read: ({ body }) => parseObject(body),
  write: (output, operation, requestId) => ({
    status: 200,
    headers: { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": requestId },
    body: JSON.stringify(toJson(operation.output, output)),
  }),
  fault: ({ code, message, status }, requestId) => ({
    status,
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amzn-errortype": code,
      "x-amzn-requestid": requestId,
    },
    body: JSON.stringify({ __type: code, message }),
  }),
};

export function parseObject(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  const value: unknown = JSON.parse(body.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("not a JSON object");
  return value as Record<string, unknown>;
}

/** Timestamps are seconds on this wire, bytes are base64. */
export function toJson(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (shape.kind) {
    case "timestamp":
      return value instanceof Date ? value.getTime() / 1000 : value;
    case "blob":
      return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
    case "list":
      return (value as unknown[]).map((each) => toJson(shape.member(), each));
    case "map":
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, toJson(shape.value(), each)]),
      );
    case "structure":
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => {
          const member = shape.members.get(key);
          return [key, member === undefined ? each : toJson(member(), each)];
        }),
      );
    default:
      return value;
  }
}
