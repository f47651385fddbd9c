import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Log } from "../ports/clock.ts";
import { diskError } from "./disk-error.ts";

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;
export type LogLevel = keyof typeof LEVELS;

export interface JsonLogOptions {
  clock: Pick<Clock, "now">;
  /** Where a finished line, newline included, goes. */
  write: (line: string) => void;
  /** Default "info". */
  level?: LogLevel;
  /** Applied to every finished line. */
  redact?: (text: string) => string;
}

/** One JSON object a line: time (ISO 8601), level, message, then the fields. */
export function createJsonLog(options: JsonLogOptions): Log {
  const least = LEVELS[options.level ?? "info"];
  const redact = options.redact ?? ((text) => text);
  const at = (level: LogLevel) => (message: string, fields?: Record<string, unknown>) => {
    if (LEVELS[level] < least) return;
    const time = new Date(options.clock.now()).toISOString();
    options.write(`${redact(toJson({ time, level, message }, fields))}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

const FLUSH_AFTER_MS = 20;

/**
 * Appends to a file; when it passes `maxBytes` (default 10 MB) it becomes `<path>.1` and a new one begins.
 * Only the owner can read it. Lines of the same moment are one write: a log of requests would be a system call
 * for each. What a process that ends by itself has to say is always written.
 */
export function openLogFile(path: string, maxBytes = 10_000_000) {
  const open = () => {
    try {
      mkdirSync(dirname(path), { recursive: true });
      return openSync(path, "a", 0o600);
    } catch (error) {
      throw diskError(error, path);
    }
  };
  let descriptor: number | undefined = open();
  let size = fstatSync(descriptor).size;
  let pending = "";
  let lostWrites = 0;

  function flush(): void {
    const lines = pending;
    pending = "";
    if (descriptor === undefined || lines === "") return;
    try {
      if (size > maxBytes) {
        renameSync(path, `${path}.1`);
        const full = descriptor;
        descriptor = open();
        closeSync(full);
        size = 0;
      }
      if (lostWrites > 0) size += writeSync(descriptor, lostLine(lostWrites));
      lostWrites = 0;
      size += writeSync(descriptor, lines);
    } catch {
      // A full disk must not end the daemon; the log says so when there is room again.
      lostWrites++;
    }
  }

  process.on("exit", flush);
  return {
    write: (line: string): void => {
      if (descriptor === undefined) return;
      if (pending === "") setTimeout(flush, FLUSH_AFTER_MS).unref();
      pending += line;
    },
    close: (): void => {
      flush();
      process.removeListener("exit", flush);
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function lostLine(writes: number): string {
  const message = `${writes} writes to this log failed before this line`;
  return `${JSON.stringify({ level: "error", message })}\n`;
}

function toJson(head: Record<string, unknown>, fields: Record<string, unknown> = {}): string {
  try {
    const line = { ...fields, ...head };
    // Called for each value, the replacer is most of the cost of a line that does not need it.
    return isFlat(fields) ? JSON.stringify(line) : JSON.stringify(line, plain);
  } catch (error) {
    // A line about a failure must not fail for a circular field.
    return JSON.stringify({ ...head, unloggable: String(error) });
  }
}

function isFlat(fields: Record<string, unknown>): boolean {
  for (const key in fields) {
    const type = typeof fields[key];
    if (type === "object" || type === "bigint") return false;
  }
  return true;
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  return { ...value, name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}
