import { InvalidArgumentError } from "commander";

/** Option values as whole numbers. */
export function integer(text: string): number {
  const value = Number(text);
  // Number() would take 0x10, 1e3 and blanks as well.
  if (!/^[-+]?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number.");
  return value;
}

/** Option values as numbers. */
export function number(text: string): number {
  const value = Number(text);
  const isDecimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text);
  if (!isDecimal || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Option values such as 90s, 5m, 12h, 7d or 4w, in milliseconds. */
export function durationMs(text: string): number {
  const [, amount = "", unit = ""] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
  if (Number.isNaN(ms)) throw new InvalidArgumentError("Give a number and s, m, h, d or w, such as 7d.");
  return ms;
}
