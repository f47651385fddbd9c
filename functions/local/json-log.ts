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

/**
 * Appends to a file; when it passes `maxBytes` (default 10 MB) it becomes `<path>.1` and a new one begins.
 * Only the owner can read it.
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
  return {
    write: (line: string): void => {
      if (descriptor === undefined) return;
      if (size > maxBytes) {
        closeSync(descriptor);
        renameSync(path, `${path}.1`);
        descriptor = open();
        size = 0;
      }
      size += writeSync(descriptor, line);
    },
    close: (): void => {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function toJson(head: Record<string, unknown>, fields: Record<string, unknown> = {}): string {
  try {
    return JSON.stringify({ ...fields, ...head }, plain);
  } catch (error) {
    // A line about a failure must not fail for a circular field.
    return JSON.stringify({ ...head, unloggable: String(error) });
  }
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  return { ...value, name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}
