import { SpotterError } from "../../sdk/schema/errors.ts";

/** Throws `invalid_input` unless [start, end) is a range of bytes; the end may be infinite. */
export function checkBlobRange(start: number, end: number): void {
  const whole = Number.isInteger(start) && (Number.isInteger(end) || end === Number.POSITIVE_INFINITY);
  if (whole && start >= 0 && end >= start) return;
  throw new SpotterError("invalid_input", `[${start}, ${end}) is not a range of bytes.`, {
    where: "range",
    hint: "Give two whole numbers, start and end, with 0 <= start <= end.",
  });
}
