import { StringDecoder } from "node:string_decoder";

const MAX_LINE = 4_000;
/** More than the adapter inside lets through: only what goes around it gets here. */
const MAX_LINES_PER_CALL = 200;

export interface LogGate {
  /** A new call: it may print again. */
  start(): void;
  write(chunk: Buffer): void;
}

/**
 * Splits what a process writes into lines, each cut to a length, and only so many of them a call: user code may
 * print without end, and nothing of it may pile up or cost the control plane time. What is too much is read,
 * because a full pipe would stop the process, and thrown away unseen.
 */
export function logGate(onLine: (line: string) => void): LogGate {
  let decoder = new StringDecoder("utf8");
  let rest = "";
  let left = MAX_LINES_PER_CALL;
  let isCut = false;
  const emit = (line: string) => {
    if (line.trim() === "" || left < 0) return;
    left -= 1;
    if (left >= 0) return onLine(line.slice(0, MAX_LINE));
    onLine(`(more than ${MAX_LINES_PER_CALL} lines in one call; the rest is dropped)`);
  };
  return {
    start() {
      left = MAX_LINES_PER_CALL;
    },
    write(chunk) {
      if (left < 0) {
        decoder = new StringDecoder("utf8");
        rest = "";
        isCut = true;
        return;
      }
      const lines = (rest + decoder.write(chunk)).split("\n");
      // What follows a gap begins in the middle of a line.
      if (isCut && lines.length > 1) lines.shift();
      isCut = isCut && lines.length === 1;
      rest = isCut ? "" : (lines.pop() ?? "").slice(0, MAX_LINE);
      for (const line of lines) if (!isCut) emit(line);
    },
  };
}

/** A line of workerd's structured log as user code wrote it; undefined for what workerd says about itself. */
export function userMessage(line: string): { level: string; message: string } | undefined {
  try {
    const entry = JSON.parse(line) as { level?: unknown; message?: unknown; source?: unknown };
    if (typeof entry.source === "string" && entry.source.startsWith("workerd/")) return undefined;
    return { level: textOr(entry.level, "log"), message: textOr(entry.message, line) };
  } catch {
    // A line cut at its end is no JSON any more; it is still the user's output.
    return { level: "log", message: line };
  }
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}
