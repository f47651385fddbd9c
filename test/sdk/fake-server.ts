import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Client } from "../../sdk/client.ts";

export interface Recorded {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Handler = (request: Recorded, response: ServerResponse) => unknown;

export interface FakeServer {
  url: string;
  client: Client;
  requests: Recorded[];
  /** `handlers["GET /runs/1"]`; a returned value is sent as JSON, undefined means it answered itself. `*`: the rest. */
  handlers: Record<string, Handler>;
}

/** A control plane that answers what a test tells it to; closed when the test ends. */
export async function fakeServer(handlers: Record<string, Handler> = {}): Promise<FakeServer> {
  const requests: Recorded[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://fake");
      const recorded = {
        method: request.method ?? "",
        path: decodeURIComponent(url.pathname),
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(recorded);
      const handler = handlers[`${recorded.method} ${recorded.path}`] ?? handlers["*"];
      if (!handler) return sendError(response, 404, "not_found", `No ${recorded.method} ${recorded.path}.`);
      const value = handler(recorded, response);
      if (value !== undefined) send(response, 200, value);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, client: new Client({ url, key: "test-key", retryDelayMs: 1 }), requests, handlers };
}

export function send(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  send(response, status, { error: { code, kind: "user", message, hint: "Do better." } });
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
