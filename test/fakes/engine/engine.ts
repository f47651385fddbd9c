import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * What an engine does next with one request: bytes are one write each, apart from the next one; `until` waits;
 * `RESET` breaks the connection off; `HANG` says nothing more. At the end of its steps the answer ends cleanly.
 */
export type Step = string | Uint8Array | { until: Promise<unknown> } | typeof RESET | typeof HANG;
export const RESET = { does: "reset" } as const;
export const HANG = { does: "hang" } as const;

export interface Reply {
  /** Default 200. */
  status?: number;
  /** Default: an event stream. */
  type?: string;
  headers?: Record<string, string>;
  steps: Step[];
}

export interface EngineRequest {
  path: string;
  body: Record<string, unknown>;
  /** The body as it came. */
  text: string;
  headers: IncomingMessage["headers"];
}

export interface FakeEngine {
  address: string;
  requests: EngineRequest[];
  /** When requests were left by their client before the answer was complete, on `performance.now()`. */
  leftAtMs: number[];
  /** Requests it works on. */
  readonly working: number;
  /** Stops listening and breaks all connections off: from now on it refuses. */
  die(): Promise<void>;
}

export type Script = (request: EngineRequest) => Reply;

/** An engine that plays a script: a good one, or whatever a broken one would do. */
export async function fakeEngine(
  onEnd: (end: () => Promise<void>) => void,
  script: Script,
): Promise<FakeEngine> {
  const requests: EngineRequest[] = [];
  const leftAtMs: number[] = [];
  let working = 0;
  const server = createServer((request, response) => {
    working++;
    response.on("close", () => {
      working--;
      if (!response.writableFinished) leftAtMs.push(performance.now());
    });
    void read(request).then((text) => {
      const seen = { path: request.url ?? "", body: parsed(text), text, headers: request.headers };
      requests.push(seen);
      return play(script(seen), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let ending: Promise<void> | undefined;
  const die = () =>
    (ending ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }));
  onEnd(die);
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    leftAtMs,
    get working() {
      return working;
    },
    die,
  };
}

/** A JSON answer in one piece. */
export function jsonReply(body: string, status = 200): Reply {
  return { status, type: "application/json", steps: [body] };
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  const { status = 200, type = "text/event-stream; charset=utf-8", headers = {}, steps } = reply;
  response.writeHead(status, { "content-type": type, ...headers });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for (const step of steps) {
    if (step === HANG || response.destroyed) return;
    if (step === RESET) return void response.socket?.resetAndDestroy();
    if (typeof step === "object" && "until" in step) await step.until;
    else {
      await new Promise<void>((resolve) => response.write(step, () => resolve()));
      // Without a pause two writes may arrive as one read.
      if (steps.length > 1) await delay(1);
    }
  }
  response.end();
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): Record<string, unknown> {
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}
