const MAX_LINE = 4_000;

/**
 * Splits what a process writes into lines, each cut to a length: user code may print without end, and nothing
 * of it may pile up here.
 */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) if (line.trim() !== "") onLine(line.slice(0, MAX_LINE));
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
