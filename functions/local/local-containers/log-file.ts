import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";

const TAIL_BYTES = 128 * 1024;

/** The last lines of a log and of what was cut off it, oldest first. */
export function tailLines(path: string, lines: number): string[] {
  if (lines <= 0) return [];
  const newer = linesOf(path);
  const older = newer.length < lines ? linesOf(`${path}.1`) : [];
  return [...older, ...newer].slice(-lines);
}

/**
 * Keeps a log that a process appends to within about `maxBytes`: its end moves to `<path>.1` and the file
 * begins anew. What the process writes in that very moment may be lost; it holds the file open, so the
 * file cannot be exchanged under it.
 */
export function boundLog(path: string, maxBytes: number): void {
  if (sizeOf(path) <= maxBytes) return;
  writeFileSync(`${path}.1`, readEnd(path, Math.floor(maxBytes / 2)), { mode: 0o600 });
  truncateSync(path, 0);
}

export function noteInLog(path: string, line: string): void {
  appendFileSync(path, `${line}\n`, { mode: 0o600 });
}

function linesOf(path: string): string[] {
  const text = readEnd(path, TAIL_BYTES).toString("utf8");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  // Where the reading began within a line, its rest is no line.
  if (sizeOf(path) > TAIL_BYTES) lines.shift();
  return lines;
}

function readEnd(path: string, bytes: number): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const { size } = fstatSync(descriptor);
    const wanted = Math.min(size, bytes);
    const buffer = Buffer.alloc(wanted);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, wanted, size - wanted));
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
