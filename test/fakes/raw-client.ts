import { connect, type Socket } from "node:net";

export interface RawClient {
  socket: Socket;
  /** Everything that came so far, and when each read of it came, on `performance.now()`. */
  reads: { text: string; atMs: number }[];
  text: () => string;
  /** Resolves when the other side ended the connection. */
  ended: Promise<void>;
  send: (text: string | Uint8Array) => void;
}

/** A bare socket, for what no client library shows. */
export async function rawClient(base: string, onEnd: (end: () => Promise<void>) => void): Promise<RawClient> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const reads: RawClient["reads"] = [];
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    reads.push({ text: chunk.toString(), atMs: performance.now() });
  });
  // A reset is an end as well; what came before it is what tests look at.
  socket.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  onEnd(async () => void socket.destroy());
  return {
    socket,
    reads,
    ended,
    text: () => Buffer.concat(chunks).toString(),
    send: (text) => void socket.write(text),
  };
}

/** A POST as bytes. */
export function rawPost(path: string, key: string, body: string, headers: string[] = []): string {
  return [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
    "",
    body,
  ].join("\r\n");
}

/** Head and body of an answer whose body is chunked (RFC 9112 section 7.1). */
export function unchunked(text: string): { head: string; body: string; isComplete: boolean } {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  let bytes = Buffer.from(rest.join("\r\n\r\n"));
  let body = "";
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n");
    if (lineEnd === -1) return { head, body, isComplete: false };
    const size = Number.parseInt(bytes.toString("latin1", 0, lineEnd), 16);
    if (size === 0) return { head, body, isComplete: true };
    body += bytes.toString("utf8", lineEnd + 2, lineEnd + 2 + size);
    bytes = bytes.subarray(lineEnd + 2 + size + 2);
  }
}
