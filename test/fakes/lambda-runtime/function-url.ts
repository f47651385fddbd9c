import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { bytesOf, type Outcome } from "./runtime-api.ts";
import { eventOf } from "./event.ts";

/** Largest payload of a request to a function. */
const MAX_REQUEST_BYTES = 6 * 1024 * 1024;

interface Head {
  statusCode?: number;
  headers?: Record<string, string>;
  cookies?: string[];
}

/** A function URL: HTTP in front, events behind. A client that goes away does not stop the function. */
export function functionUrl(invoke: (event: unknown) => Promise<Outcome>): Server {
  return createServer((request, response) => {
    answer(invoke, request, response).catch(() => response.destroy());
  });
}

async function answer(
  invoke: (event: unknown) => Promise<Outcome>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bytesOf(request);
  if (body.length > MAX_REQUEST_BYTES)
    return void response.writeHead(413).end('{"Message":"Request too large"}');
  const outcome = await invoke(eventOf(request, body));
  if (outcome.kind === "stream") return stream(outcome, response);
  if (outcome.kind === "answer") return whole(outcome.body, response);
  response.writeHead(502, { "content-type": "application/json", "x-amzn-errortype": outcome.errorType });
  response.end('{"Message":"Internal Server Error"}');
}

function whole(bytes: Buffer, response: ServerResponse): void {
  const {
    body = "",
    isBase64Encoded = false,
    ...head
  } = JSON.parse(bytes.toString()) as Head & {
    body?: string;
    isBase64Encoded?: boolean;
  };
  writeHead(head, response);
  response.end(Buffer.from(body, isBase64Encoded ? "base64" : "utf8"));
}

async function stream(
  { body, contentType }: Extract<Outcome, { kind: "stream" }>,
  response: ServerResponse,
): Promise<void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  if (contentType !== "application/vnd.awslambda.http-integration-response") {
    writeHead({ headers: { "content-type": contentType } }, response);
    head = undefined;
  }
  for await (let chunk of body as AsyncIterable<Buffer>) {
    if (head !== undefined) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(Buffer.alloc(8));
      if (end === -1) continue;
      writeHead(JSON.parse(head.subarray(0, end).toString()) as Head, response);
      chunk = head.subarray(end + 8);
      head = undefined;
      response.flushHeaders();
    }
    if (chunk.length > 0 && !response.destroyed) response.write(chunk);
  }
  // Lambda tells of a failure in the middle by cutting the line.
  if (body.trailers["lambda-runtime-function-error-type"] !== undefined) response.destroy();
  else response.end();
}

function writeHead({ statusCode = 200, headers = {}, cookies = [] }: Head, response: ServerResponse): void {
  response.writeHead(statusCode, { ...headers, ...(cookies.length > 0 && { "set-cookie": cookies }) });
}
