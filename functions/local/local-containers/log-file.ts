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
  writeFileSync(`${path}.1`, readEnd(path, Math.floor(maxBytes / 2)).bytes, { mode: 0o600 });
  truncateSync(path, 0);
}

export function noteInLog(path: string, line: string): void {
  appendFileSync(path, `${line}\n`, { mode: 0o600 });
}

function linesOf(path: string): string[] {
  const { bytes, isWhole } = readEnd(path, TAIL_BYTES);
  const lines = bytes.toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  // Where the reading began within a line, its rest is no line.
  if (!isWhole) lines.shift();
  return lines;
}

/** Nothing, where it cannot be read: a log is told of what ended, and must not keep it from ending. */
function readEnd(path: string, maxBytes: number): { bytes: Buffer; isWhole: boolean } {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return { bytes: Buffer.alloc(0), isWhole: true };
  }
  try {
    const { size } = fstatSync(descriptor);
    const wanted = Math.min(size, maxBytes);
    const buffer = Buffer.alloc(wanted);
    const read = readSync(descriptor, buffer, 0, wanted, size - wanted);
    return { bytes: buffer.subarray(0, read), isWhole: size <= maxBytes };
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
