import type { ServerResponse } from "node:http";
import type { Sink } from "./sink.ts";

/** Above this, copying costs more than the second write. */
const ONE_WRITE_BYTES = 16 * 1024;

/** A sink that writes to Node's own response. `extra` goes with every answer. */
export function nodeSink(response: ServerResponse, extra: Record<string, string>): Sink {
  const sink: Sink = {
    head: (status, ...headers) => void response.writeHead(status, flat(extra, headers)),
    write: (bytes) => response.write(bytes),
    end: (bytes) => void (bytes === undefined ? response.end() : endWith(response, bytes)),
    cut: () => void response.destroy(),
    onDrain: () => {},
    onGone: () => {},
  };
  response.on("drain", () => sink.onDrain());
  // Writing to a client that has just gone; "close" tells of it.
  response.on("error", () => undefined);
  response.on("close", () => {
    if (!response.writableFinished) sink.onGone();
  });
  return sink;
}

/** Small bodies as Latin-1 text, a letter for each byte: Node puts that and the head into one write, not two. */
function endWith(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length > ONE_WRITE_BYTES) response.end(bytes);
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), "latin1");
}

/** Names and values in turn: the form that Node writes without looking at it again. */
function flat(extra: Record<string, string>, headers: Record<string, string>[]): string[] {
  const list: string[] = [];
  for (const part of headers) for (const name in part) list.push(name, part[name] ?? "");
  for (const name in extra) list.push(name, extra[name] ?? "");
  return list;
}
