/**
 * The engine that every gateway is measured in front of: it answers at once, and always the same. Prints its
 * port. Streams send their first token after 30 ms and 39 more at 10 ms each, as a small model would.
 *
 * `GET /left` tells which streams were left by their client, and when: `{ [x-request-id]: epochMs }`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as fixed from "./fixed.ts";

const left = new Map<string, number>();
const JSON_HEAD = { "content-type": "application/json", "content-length": Buffer.byteLength(fixed.ANSWER) };
const STREAM_HEAD = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

const server = createServer((request, response) => {
  if (request.method !== "POST") return other(request, response);
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    if (body.includes('"stream":true')) return paced(request, response, body.includes('"slow":true'));
    response.writeHead(200, JSON_HEAD);
    response.end(fixed.ANSWER);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", 4096, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

function other(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("content-type", "application/json");
  if (request.url === "/left") return void response.end(JSON.stringify(Object.fromEntries(left)));
  response.end('{"object":"list","data":[]}');
}

function paced(request: IncomingMessage, response: ServerResponse, isSlow: boolean): void {
  const tokens = isSlow ? fixed.SLOW_TOKENS : fixed.TOKENS;
  const everyMs = isSlow ? fixed.SLOW_TOKEN_EVERY_MS : fixed.TOKEN_EVERY_MS;
  response.writeHead(200, STREAM_HEAD);
  response.flushHeaders();
  let sent = 0;
  let timer = setTimeout(next, fixed.FIRST_TOKEN_MS);
  function next(): void {
    response.write(fixed.CHUNK);
    if (++sent < tokens) timer = setTimeout(next, everyMs);
    else response.end(fixed.LAST_CHUNKS);
  }
  response.on("close", () => {
    clearTimeout(timer);
    if (response.writableFinished) return;
    const id = request.headers["x-request-id"];
    if (typeof id === "string") left.set(id, performance.timeOrigin + performance.now());
  });
}
