const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** At most four significant digits; an exponent for what is very small or very large. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6))
    return Number(value.toPrecision(3)).toExponential();
  return String(Number(value.toPrecision(4)));
}

/** `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms / SECOND_MS)) * SECOND_MS;
  if (whole < MINUTE_MS) return `${whole / SECOND_MS} s`;
  if (whole < HOUR_MS) return pair(whole, MINUTE_MS, "min", SECOND_MS, "s");
  if (whole < DAY_MS) return pair(whole, HOUR_MS, "h", MINUTE_MS, "min");
  return pair(whole, DAY_MS, "d", HOUR_MS, "h");
}

/** `just now`, `5 min ago`; one unit, since nobody needs two. */
export function agoText(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (ms < 10 * SECOND_MS) return "just now";
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s ago`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  return `${Math.floor(ms / DAY_MS)} d ago`;
}

/** `812 B`, `1.9 MB`: powers of 1000, as disks are sold and files are listed. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** `2026-11-30 00:51:00 UTC`. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** `1 token`, `2 tokens`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}
