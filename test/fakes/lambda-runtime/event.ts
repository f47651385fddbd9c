import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const TEXT = /^(text\/|application\/(json|x-ndjson|javascript|xml|x-www-form-urlencoded))/;

/** A request as a function URL passes it on (payload version 2.0). */
export function eventOf(request: IncomingMessage, body: Buffer) {
  const url = new URL(request.url ?? "/", "http://function");
  const { cookie, ...headers } = request.headers;
  const host = headers.host ?? "";
  const isText = body.length === 0 || TEXT.test(headers["content-type"] ?? "");
  const now = new Date();
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    ...(cookie !== undefined && { cookies: cookie.split("; ") }),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : value]),
    ),
    ...(url.search !== "" && { queryStringParameters: Object.fromEntries(url.searchParams) }),
    requestContext: {
      accountId: "anonymous",
      apiId: "fakefunctionurl",
      domainName: host,
      domainPrefix: "fakefunctionurl",
      http: {
        method: request.method ?? "GET",
        path: url.pathname,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: "127.0.0.1",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey: "$default",
      stage: "$default",
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: !isText,
  };
}
