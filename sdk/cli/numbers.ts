import { InvalidArgumentError } from "commander";

/** Option values as whole numbers. */
export function integer(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value))
    throw new InvalidArgumentError("It must be a whole number.");
  return value;
}

/** Option values as numbers. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}
