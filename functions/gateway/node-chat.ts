import type { IncomingMessage, ServerResponse } from "node:http";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { tooLarge } from "../http/body.ts";
import { gatewayError, validRequestId } from "../http/errors.ts";
import { isOwnHost } from "../http/host-check.ts";
import { converse, KINDS, MAX_BODY_BYTES } from "./call.ts";
import { allowBrowsers } from "./cors.ts";
import { inflated } from "./inflate.ts";
import { nodeSink } from "./node-sink.ts";
import type { Sink } from "./sink.ts";
import type { Upstreams } from "./upstream.ts";

/** Answers a request of a Node server, or says with false that it is for the app. */
export type NodeChat = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The short way for chat on a server of Node's own. It does what the app does with the same request, without
 * making web objects of it first, which would cost more than all the rest. Whatever is unusual about a request
 * is left to the app.
 */
export function nodeChat(control: Control, upstreams: Upstreams): NodeChat {
  const always = new Headers();
  allowBrowsers(always);
  const extra = Object.fromEntries(always);
  return (request, response) => {
    const { method, url = "", headers } = request;
    if (method !== "POST" || !isChatPath(url)) return false;
    if (!isOwnHost(headers.host ?? "", control.config.publicUrl())) return false;
    void answer(control, upstreams, { path: url, request, response, extra });
    return true;
  };
}

interface Asked {
  path: string;
  request: IncomingMessage;
  response: ServerResponse;
  extra: Record<string, string>;
}

async function answer(control: Control, upstreams: Upstreams, asked: Asked): Promise<void> {
  const { path, request, response, extra } = asked;
  const { headers } = request;
  const requestId = validRequestId(headers["x-request-id"]) ?? control.ids.next();
  control.activity.lastAtMs = control.clock.now();
  const seen = control.observer.begin({
    requestId,
    route: path,
    traceparent: textOf(headers["traceparent"]),
    tracestate: textOf(headers["tracestate"]),
  });
  const sink = nodeSink(response, extra);
  let isGone = false;
  // A constant first, see Sink.onGone.
  const gone = () => void (isGone = true);
  sink.onGone = gone;
  const answerError = (error: unknown) => {
    const answered = gatewayError(control, { requestId, method: "POST", path, seen }, error);
    void writeResponse(sink, request, answered).finally(() => seen.end(isGone ? 499 : answered.status));
  };
  try {
    await converse(control, upstreams, {
      path,
      requestId,
      authorization: headers.authorization,
      read: () => inflated(readBody(request, MAX_BODY_BYTES), headers["content-encoding"], MAX_BODY_BYTES),
      seen,
      sink,
      isGone: () => isGone,
      answerError,
    });
  } catch (error) {
    answerError(error);
  }
}

/** Not routes of prototypes, and without a query: those go the long way. */
function isChatPath(url: string): boolean {
  return Object.hasOwn(KINDS, url);
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > maxBytes) return reject(tooLarge(maxBytes));
    let chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        chunks = [];
        request.removeAllListeners("data").resume();
        reject(tooLarge(maxBytes));
      } else chunks.push(chunk);
    });
    request.on("end", () => {
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    const gone = () => {
      // Every request closes in the end, most of them long after their body was read.
      if (!request.complete) reject(new SpotterError("user_cancelled", "The client went away."));
    };
    request.on("error", gone).on("close", gone);
  });
}

async function writeResponse(sink: Sink, request: IncomingMessage, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  sink.head(response.status, {
    ...Object.fromEntries(response.headers),
    "content-length": String(body.length),
    // What is left of a body that nobody wants would stand where the next request should begin.
    ...(!request.complete && { connection: "close" }),
  });
  sink.end(body);
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}
