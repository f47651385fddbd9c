/** What a container prints, kept for the record of a failure. */
export interface ContainerLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** The last lines, oldest first. */
  tail(): string[];
}

export type LogLevel = "info" | "warn" | "error";

/** Lines kept for a failure's record, and how much of each: the record must stay small. */
const KEPT_LINES = 200;
const KEPT_CHARACTERS = 500;

/** `write` gets level and message of each line, and the line as JSON with its end. */
export function createLog(
  write: (level: LogLevel, message: string, line: string) => void,
  now: () => Date = () => new Date(),
): ContainerLog {
  const lines: string[] = [];
  const at = (level: LogLevel) => (message: string) => {
    lines.push(`${level} ${message}`.slice(0, KEPT_CHARACTERS));
    if (lines.length > KEPT_LINES) lines.shift();
    write(level, message, `${JSON.stringify({ ts: now().toISOString(), level, msg: message })}\n`);
  };
  return { info: at("info"), warn: at("warn"), error: at("error"), tail: () => [...lines] };
}
