import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { SpotterError } from "../schema/errors.ts";

/** A file, wherever it lies. */
export interface ByteSource {
  /** For messages: a path, or hub repository and path. */
  name: string;
  size(): Promise<number>;
  /** Bytes from `start` (0) up to, not including, `end`. */
  read(range?: { start: number; end?: number }): AsyncIterable<Uint8Array>;
}

/** A file on this machine. */
export function localFile(path: string, name = path): ByteSource {
  return {
    name,
    async size() {
      const found = await stat(path).catch((error: unknown) => {
        throw unreadable(name, error);
      });
      return found.size;
    },
    async *read({ start, end } = { start: 0 }) {
      if (end !== undefined && end <= start) return;
      try {
        const stream = createReadStream(path, { start, ...(end === undefined ? {} : { end: end - 1 }) });
        for await (const chunk of stream) yield chunk as Uint8Array;
      } catch (error) {
        throw unreadable(name, error);
      }
    },
  };
}

/** A small range as one piece. */
export async function readAll(source: ByteSource, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  let at = 0;
  for await (const chunk of source.read({ start, end })) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  if (at === bytes.byteLength) return bytes;
  throw new SpotterError("dataset_invalid", `${source.name} ends ${bytes.byteLength - at} bytes early.`, {
    where: source.name,
    hint: "The file is cut off: fetch it again.",
  });
}

function unreadable(name: string, cause: unknown): unknown {
  const { code, syscall } = cause as { code?: string; syscall?: string };
  if (code === undefined || syscall === undefined) return cause;
  return new SpotterError("dataset_invalid", `Cannot read ${name}: ${code}.`, {
    where: name,
    hint: "Check the path and that you may read it.",
    cause,
  });
}
