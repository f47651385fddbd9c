import * as z from "zod/mini";
import { recordName, timestampMs } from "./common.ts";

/** One of those an alias leads to. */
export const aliasTarget = z.strictObject({
  /** An endpoint, a run (its latest checkpoint), `run@step`, or `base:run@step`; no other alias. */
  model: z.string().check(z.minLength(1), z.maxLength(300)),
  /** Its share is its weight divided by the sum of all weights. 0: nothing new goes there. Default 1. */
  weight: z._default(z.number().check(z.gte(0), z.lte(1e6)), 1),
});
export type AliasTarget = z.infer<typeof aliasTarget>;

/** Body of `PUT /aliases/:name`. */
export const putAlias = z.strictObject({
  targets: z.array(aliasTarget).check(z.minLength(1), z.maxLength(100)),
});
export type PutAliasInput = z.input<typeof putAlias>;

/** A name to chat with that leads to one model, or to several by weight. */
export const alias = z.object({
  v: z.literal(1),
  name: recordName,
  targets: z.array(aliasTarget),
  createdAtMs: timestampMs,
  changedAtMs: timestampMs,
});
export type Alias = z.infer<typeof alias>;
