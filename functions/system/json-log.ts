import type { Clock, Log } from "../ports/clock.ts";

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;
type LogLevel = keyof typeof LEVELS;

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
