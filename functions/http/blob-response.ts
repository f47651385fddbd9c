import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";

/** A blob as an answer; one byte range is honoured (RFC 9110 section 14). */
export async function blobResponse(control: Control, key: string, range?: string): Promise<Response> {
  const info = await control.blobs.head(key);
  if (info === undefined) throw new SpotterError("not_found", `There is no file ${key}.`);
  const part = range === undefined ? undefined : parseRange(range, info.size);
  if (part === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${info.size}` } });
  }
  const stream = await control.blobs.get(key, part === undefined ? {} : { range: part });
  if (stream === undefined) throw new SpotterError("not_found", `There is no file ${key}.`);
  const [start, end] = part ?? [0, info.size];
  const headers: Record<string, string> = {
    "content-type": "application/octet-stream",
    "content-length": String(end - start),
    "accept-ranges": "bytes",
    ...(part && { "content-range": `bytes ${start}-${end - 1}/${info.size}` }),
  };
  return new Response(stream, { status: part ? 206 : 200, headers });
}

/** [start, end), or undefined for what a server may ignore: several ranges and other units. */
function parseRange(header: string, size: number): [number, number] | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  if (match === null || (match[1] === "" && match[2] === "")) return undefined;
  if (match[1] === "") {
    const length = Math.min(Number(match[2]), size);
    return length === 0 ? "unsatisfiable" : [size - length, size];
  }
  const start = Number(match[1]);
  const end = match[2] === "" ? size : Math.min(Number(match[2]) + 1, size);
  return start >= end ? "unsatisfiable" : [start, end];
}
