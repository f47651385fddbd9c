import * as z from "zod/mini";

/** Milliseconds since the epoch, by the control plane's clock. */
export const timestampMs = z.number();
export const positiveInt = z.number().check(z.int(), z.gt(0));
export const nonNegativeInt = z.number().check(z.int(), z.gte(0));
/** Lower-case hexadecimal SHA-256. */
export const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** Names people type: letters, digits, dot, dash, underscore. */
export const recordName = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "use 1 to 63 letters, digits, dots, dashes or underscores"),
  );
export const json: z.ZodMiniType<unknown> = z.unknown();

export const pageQuery = z.object({
  after: z.optional(z.string()),
  limit: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(1000)), 100),
});

/** A page of a listing; `next` is the `after` of the next page, absent on the last. */
export function pageOf<T extends z.ZodMiniType>(item: T) {
  return z.object({ items: z.array(item), next: z.optional(z.string()) });
}
