import { printable } from "./visible.ts";

/** A line of a log for people: time, level, text. What is not JSON of a log is shown as it is. */
export function logLineText(line: string): string {
  const entry = parsed(line);
  const text = entry?.msg ?? entry?.message;
  if (!entry || typeof text !== "string" || typeof entry.level !== "string") return printable(line);
  const at = entry.ts ?? entry.time;
  const time = typeof at === "string" ? `${at.replace(/^.*T([\d:]{8}).*$/, "$1")} ` : "";
  return printable(`${time}${entry.level.padEnd(5)} ${text}`);
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
