import * as z from "zod/mini";

/** Milliseconds since the epoch, by the control plane's clock. */
export const timestampMs = z.number();
export const positiveInt = z.number().check(z.int(), z.gt(0));
export const nonNegativeInt = z.number().check(z.int(), z.gte(0));
/** A whole number from 1 to `max`. */
export function countUpTo(max: number) {
  return z.number().check(z.int(), z.gt(0), z.lte(max));
}
/** How long one row may take to judge: an hour at most. */
export const rewardTimeoutMs = countUpTo(3_600_000);
/** Lower-case hexadecimal SHA-256. */
export const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** Names people type: letters, digits, dot, dash, underscore. */
export const recordName = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "use 1 to 63 letters, digits, dots, dashes or underscores"),
  );
const DISPLAY_NAME = /(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,200}/u;
const DISPLAY_NAME_RULE = "use 1 to 200 visible characters, without control characters";
/** Names and tags people read: any writing, but nothing that could hide or forge a line of a table. */
export const displayName = z
  .string()
  .check(z.regex(new RegExp(`^${DISPLAY_NAME.source}$`, "u"), DISPLAY_NAME_RULE));
/** As {@link displayName}; an empty text removes. */
export const displayNameOrEmpty = z
  .string()
  .check(z.regex(new RegExp(`^(?:${DISPLAY_NAME.source})?$`, "u"), DISPLAY_NAME_RULE));
export const runTags = z.array(displayName.check(z.maxLength(100))).check(z.maxLength(50));
export const json: z.ZodMiniType<unknown> = z.unknown();

/** `?force=true`: launch what is refused because it will not fit or takes days. */
export const forceQuery = z.object({ force: z.optional(z.enum(["true", "false"])) });

export const pageQuery = z.object({
  after: z.optional(z.string()),
  limit: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(1000)), 100),
});

/** A page of a listing; `next` is the `after` of the next page, absent on the last. */
export function pageOf<T extends z.ZodMiniType>(item: T) {
  return z.object({ items: z.array(item), next: z.optional(z.string()) });
}

/** What looks like a URL is none yet: its port may be too large, its address no address. */
export const parsableUrl = z.refine<string>((text) => URL.canParse(text), "is no URL");
