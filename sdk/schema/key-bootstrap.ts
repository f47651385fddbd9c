import * as z from "zod/mini";
import { recordName } from "./common.ts";
import { errorBody } from "./errors.ts";
import { keyRecord } from "./key.ts";

/** What the function that makes a stack's first key is invoked with. */
export const keyBootstrap = z.strictObject({
  /** For people: whose key it is. */
  name: z._default(recordName, "first"),
  /** Makes another where an admin key lives already, for who has lost it. */
  force: z._default(z.boolean(), false),
});
export type KeyBootstrapInput = z.input<typeof keyBootstrap>;

/** The key, this once, and where it is of use. */
export const bootstrappedKey = z.object({ url: z.string(), key: z.string(), record: keyRecord });
export type BootstrappedKey = z.infer<typeof bootstrappedKey>;

/** A refusal is an answer too: what a function throws loses its code and its hint on the way. */
export const keyBootstrapAnswer = z.union([bootstrappedKey, errorBody]);
