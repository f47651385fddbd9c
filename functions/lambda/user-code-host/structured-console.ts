import { format } from "node:util";

const LEVELS = ["debug", "error", "info", "log", "trace", "warn"] as const;
/** A longer line is cut on its way, and would be no JSON then. */
const MAX_MESSAGE = 3_000;

/** Makes the console write lines as workerd's structured log, so that a message of several lines stays one. */
export function structuredConsole(): void {
  const target = globalThis.console;
  for (const level of LEVELS) target[level] = (...values: unknown[]) => say(level, ...values);
}

export function say(level: (typeof LEVELS)[number], ...values: unknown[]): void {
  const message = format(...values).slice(0, MAX_MESSAGE);
  process.stdout.write(`${JSON.stringify({ level, message })}\n`);
}

/** Resolves once all that was printed has left the process: it belongs to the call that printed it. */
export function printed(): Promise<void> {
  return new Promise((resolve) => process.stdout.write("", () => resolve()));
}
