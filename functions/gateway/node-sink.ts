import type { ServerResponse } from "node:http";
import type { Sink } from "./sink.ts";

/** A sink that writes to Node's own response. `extra` goes with every answer. */
export function nodeSink(response: ServerResponse, extra: Record<string, string>): Sink {
  const sink: Sink = {
    head: (status, headers) => void response.writeHead(status, flat(headers, extra)),
    write: (bytes) => response.write(bytes),
    end: (bytes) => void response.end(bytes),
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

/** Names and values in turn: the form that Node writes without looking at it again. */
function flat(...all: Record<string, string>[]): string[] {
  const list: string[] = [];
  for (const headers of all) for (const name in headers) list.push(name, headers[name] ?? "");
  return list;
}
