import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";

const NEWLINE = 10;
export const CHUNK_BYTES = 1024 * 1024;
/** A row of this size is an accident, and would not fit beside others. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

export interface LineSink {
  /** Line numbers count from 1. Lines end at \n only; one that is blank is not told of. */
  line(text: string, number: number): void;
  fault(kind: "byte_order_mark" | "not_utf8" | "too_long", number: number): void;
}

/** Knows lines of which the sink need not be told. */
export interface LinePass {
  /** What the file is read into. */
  readonly chunk: Buffer;
  /** Passes over lines from `start` on, all of them whole and UTF-8 up to `end`: how many, and where the next begins. */
  pass(start: number, end: number): { lines: number; start: number };
}

export interface ScanLinesParams {
  pass?: LinePass | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a file line by line in bounded memory, whatever its size: one chunk and the line that is being read.
 * Resolves to the number of bytes.
 */
export async function scanLines(path: string, sink: LineSink, params: ScanLinesParams = {}): Promise<number> {
  const { pass, signal } = params;
  const file = await open(path);
  const chunk = pass?.chunk ?? Buffer.allocUnsafe(CHUNK_BYTES);
  const lines = new Lines(sink, pass);
  let total = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) break;
      total += bytesRead;
      lines.push(chunk.subarray(0, bytesRead));
    }
    lines.end();
    return total;
  } finally {
    await file.close();
  }
}

class Lines {
  readonly #sink: LineSink;
  readonly #pass: LinePass | undefined;
  /** What of a line has been read so far, where it spans chunks. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isTooLong = false;
  #number = 1;

  constructor(sink: LineSink, pass: LinePass | undefined) {
    this.#sink = sink;
    this.#pass = pass;
  }

  push(chunk: Buffer): void {
    let start = 0;
    if (this.#partBytes > 0 || this.#isTooLong) {
      const end = chunk.indexOf(NEWLINE);
      if (end < 0) return this.#keep(chunk);
      this.#finish(chunk.subarray(0, end));
      this.#number++;
      start = end + 1;
    }
    const whole = chunk.lastIndexOf(NEWLINE) + 1;
    const pass = this.#pass && isUtf8(chunk.subarray(start, whole)) ? this.#pass : undefined;
    while (start < whole) {
      if (pass) {
        const passed = pass.pass(start, whole);
        this.#number += passed.lines;
        start = passed.start;
        if (start === whole) break;
      }
      const end = chunk.indexOf(NEWLINE, start);
      this.#line(chunk.subarray(start, end));
      this.#number++;
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  end(): void {
    if (this.#partBytes > 0 || this.#isTooLong) this.#finish(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    this.#isTooLong ||= this.#partBytes + part.length > MAX_LINE_BYTES;
    if (this.#isTooLong) {
      this.#parts = [];
      this.#partBytes = 0;
      return;
    }
    // The chunk is read over.
    this.#parts.push(Buffer.from(part));
    this.#partBytes += part.length;
  }

  #finish(last: Buffer): void {
    if (this.#isTooLong || this.#partBytes + last.length > MAX_LINE_BYTES)
      this.#sink.fault("too_long", this.#number);
    else this.#line(Buffer.concat([...this.#parts, last]));
    this.#parts = [];
    this.#partBytes = 0;
    this.#isTooLong = false;
  }

  #line(bytes: Buffer): void {
    if (!isUtf8(bytes)) return this.#sink.fault("not_utf8", this.#number);
    let text = bytes.toString("utf8");
    if (this.#number === 1 && text.startsWith(BYTE_ORDER_MARK)) {
      this.#sink.fault("byte_order_mark", 1);
      text = text.slice(1);
    }
    // Most lines begin with a brace.
    if (text.charCodeAt(0) !== 123 && text.trim() === "") return;
    this.#sink.line(text, this.#number);
  }
}
