import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a function answered: at once, piece by piece, or not at all. */
export type Outcome =
  | { kind: "answer"; body: Buffer }
  | { kind: "stream"; contentType: string; body: IncomingMessage }
  | { kind: "error"; errorType: string; errorMessage: string };

export interface RuntimeApi {
  /** Host and port, as AWS_LAMBDA_RUNTIME_API has it. */
  readonly address: string;
  /** Processes that wait for an event. */
  readonly waiting: number;
  /** Events that wait for a process. */
  readonly queued: number;
  /** Hands an event to a process, or keeps it until one asks. */
  invoke(event: unknown, timeoutMs: number): Promise<Outcome>;
  close(): Promise<void>;
}

interface Invocation {
  id: string;
  event: string;
  timeoutMs: number;
  settle: (outcome: Outcome) => void;
}

/** The Runtime API of Lambda, for all processes of one function. */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  const queue: Invocation[] = [];
  const waiting: ServerResponse[] = [];
  const running = new Map<string, Invocation & { timer: NodeJS.Timeout }>();

  function hand(): void {
    while (queue.length > 0 && waiting.length > 0) {
      const invocation = queue.shift();
      const response = waiting.shift();
      if (invocation === undefined || response === undefined) return;
      const { id, timeoutMs } = invocation;
      const timer = setTimeout(() => {
        running.delete(id);
        const errorMessage = `${id} Task timed out after ${timeoutMs / 1000} seconds`;
        invocation.settle({ kind: "error", errorType: "Sandbox.Timedout", errorMessage });
      }, timeoutMs);
      running.set(id, { ...invocation, timer });
      response
        .writeHead(200, {
          "content-type": "application/json",
          "lambda-runtime-aws-request-id": id,
          "lambda-runtime-deadline-ms": String(Date.now() + timeoutMs),
          "lambda-runtime-invoked-function-arn": "arn:aws:lambda:eu-central-1:123456789012:function:fake",
        })
        .end(invocation.event);
    }
  }

  function take(id: string): Invocation | undefined {
    const found = running.get(id);
    if (found !== undefined) clearTimeout(found.timer);
    running.delete(id);
    return found;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, version, , kind, id = "", verb] = (request.url ?? "").split("/");
    if (version !== "2018-06-01") return void response.writeHead(404).end();
    if (kind === "invocation" && id === "next") {
      waiting.push(response);
      response.on("close", () => {
        const at = waiting.indexOf(response);
        if (at !== -1) waiting.splice(at, 1);
      });
      return hand();
    }
    if (kind === "init") {
      const { errorMessage } = JSON.parse((await bytesOf(request)).toString()) as { errorMessage: string };
      // No process can serve what waits.
      for (const { settle } of queue.splice(0))
        settle({ kind: "error", errorType: "Runtime.InitError", errorMessage });
      return void response.writeHead(202).end();
    }
    const invocation = take(id);
    if (invocation === undefined) return void response.writeHead(400).end('{"errorType":"InvalidRequestID"}');
    if (verb === "error") {
      const error = JSON.parse((await bytesOf(request)).toString()) as {
        errorType: string;
        errorMessage: string;
      };
      invocation.settle({ kind: "error", errorType: error.errorType, errorMessage: error.errorMessage });
      return void response.writeHead(202).end();
    }
    if (request.headers["lambda-runtime-function-response-mode"] === "streaming") {
      request.on("end", () => response.writeHead(202).end());
      const contentType = request.headers["content-type"] ?? "";
      return invocation.settle({ kind: "stream", contentType, body: request });
    }
    invocation.settle({ kind: "answer", body: await bytesOf(request) });
    response.writeHead(202).end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => void response.destroy(error as Error));
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get waiting() {
      return waiting.length;
    },
    get queued() {
      return queue.length;
    },
    invoke(event, timeoutMs) {
      return new Promise((settle) => {
        queue.push({ id: randomUUID(), event: JSON.stringify(event), timeoutMs, settle });
        hand();
      });
    },
    close: () =>
      new Promise((resolve) => {
        for (const { timer } of running.values()) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
