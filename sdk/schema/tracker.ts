import * as z from "zod/mini";
import { parsableUrl } from "./common.ts";

/** Where W&B listens, unless a run says otherwise. */
export const WANDB_URL = "https://api.wandb.ai";

/** Where a tracker listens. */
export const trackerUrl = z
  .string()
  .check(
    z.maxLength(2_000),
    z.regex(/^https?:\/\/[^/@\s?#]+(\/[^\s?#]*)?$/, "must be an http or https URL without a user or a query"),
    parsableUrl,
  );
const name = z.string().check(z.minLength(1), z.maxLength(200), z.regex(/^[^\p{Cc}]*$/u));
/** A part of a path of W&B. */
const wandbName = z
  .string()
  .check(z.regex(/^[\w.-]{1,128}$/, "use 1 to 128 letters, digits, dots, dashes or underscores"));
/** Name of a stored secret. */
const secret = z.string().check(z.minLength(1));

/** A program that shows metrics, which a run's are sent to while it trains; see docs/trackers.md. */
export const tracker = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("tensorboard"),
    /** A folder of the machine that the control plane runs on; each run gets a folder of its own in it. */
    path: z
      .string()
      .check(z.maxLength(1_000), z.regex(/^\/[^\0]*$/, "must be absolute, as the control plane sees it")),
  }),
  z.strictObject({
    kind: z.literal("mlflow"),
    /** The tracking server. */
    url: trackerUrl,
    experiment: z._default(name, "spotter"),
    /** `user:password`, or a token. Absent: the server asks for none. */
    secret: z.optional(secret),
  }),
  z.strictObject({
    kind: z.literal("wandb"),
    project: wandbName,
    /** Default: the entity of the key. */
    entity: z.optional(wandbName),
    /** Holds the API key. */
    secret,
    /** Another address than W&B's own. */
    url: z._default(trackerUrl, WANDB_URL),
    group: z.optional(name),
  }),
]);
export type Tracker = z.infer<typeof tracker>;

export const trackers = z.array(tracker).check(z.maxLength(5));
