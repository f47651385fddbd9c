/** A duration in at most two units: "850ms", "12s", "3m 05s", "2h 10m", "4d 3h". */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The same with hundredths below a minute, for what is measured: "0.89s". */
export function measuredText(ms: number): string {
  return ms < 60_000 ? `${(ms / 1_000).toFixed(2)}s` : durationText(ms);
}

/** How long ago. */
export function ageText(atMs: number, nowMs: number): string {
  return `${durationText(Math.max(0, nowMs - atMs))} ago`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
