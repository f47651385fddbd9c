import * as z from "zod/mini";

/** A strict schema for the options of a call; `client` and `signal` belong to every one. */
export function optionsSchema<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject({ ...shape, client: z.optional(z.unknown()), signal: z.optional(z.unknown()) });
}
