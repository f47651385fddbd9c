import * as z from "zod/mini";
import { countUpTo, parsableUrl, positiveInt } from "./common.ts";

/** Read by the engine's own process before it is the run's, or by the system that starts it. */
const PROTECTED_VARIABLES =
  /^(SPOTTER_|NODE_|AWS_|ECS_|LD_|DYLD_|GLIBC_|MALLOC_|(PATH|HOME|TMPDIR|SHELL|IFS|ENV|BASH_ENV)$)/;

/** Environment variables of the run's process. What starts and guards the process cannot be set. */
export const runEnvironment = z
  .record(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "is no name of an environment variable")),
    z.string().check(z.maxLength(32_768)),
  )
  .check(
    z.refine((env) => Object.keys(env).every((name) => !PROTECTED_VARIABLES.test(name)), {
      error: ({ input }) =>
        `cannot set ${Object.keys(input as object)
          .filter((name) => PROTECTED_VARIABLES.test(name))
          .join(", ")}: the process is started and guarded with them`,
    }),
  );

export const adapterSpec = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("full") }),
  z.strictObject({
    kind: z.literal("lora"),
    rank: z._default(countUpTo(1_024), 16),
    /** Default: twice the rank. */
    alpha: z.optional(z.number().check(z.gt(0))),
    targets: z._default(
      z
        .array(z.enum(["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
        .check(z.minLength(1)),
      ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    ),
    /** Absolute path, where the trainer runs, of a PEFT folder of this shape: the run begins with its weights. */
    from: z.optional(z.string().check(z.minLength(1))),
  }),
]);

/** What ends a run that would go on. */
export const runLimits = z.strictObject({
  durationMs: z.optional(positiveInt),
  /** When its containers have cost this much it saves a checkpoint and ends as failed: `budget_exceeded`. */
  maxCostUsd: z.optional(z.number().check(z.gt(0))),
  /** Without progress for this long a run counts as stalled, for twice as long its attempt as lost. */
  stallMs: z.optional(positiveInt),
});

/** No program can be given any other: arguments end at a NUL, and half a character is no text. */
const shellCommand = z.string().check(
  z.minLength(1),
  z.maxLength(8_000),
  z.refine((text) => text.isWellFormed() && !text.includes("\0"), "is no text that a shell can be given"),
);

/** Shell commands that change the engine's image before it starts. The embedded engine has none. */
export const imageOverlay = z.optional(z.array(shellCommand).check(z.maxLength(50)));

/** Where to tell what becomes of a run; see docs/webhooks.md. */
export const webhook = z.strictObject({
  url: z
    .string()
    .check(
      z.maxLength(2_000),
      z.regex(/^https?:\/\/[^/@\s]+(\/\S*)?$/, "must be an http or https URL without a user"),
      parsableUrl,
    ),
  /** Default: all. */
  events: z._default(z.array(z.enum(["run.ended", "run.stalled"])).check(z.minLength(1)), [
    "run.ended",
    "run.stalled",
  ]),
  /** Name of a stored secret; what is sent is signed with its value. */
  secret: z.optional(z.string()),
});
export type Webhook = z.infer<typeof webhook>;
