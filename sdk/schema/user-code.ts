import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, rewardTimeoutMs, sha256, timestampMs } from "./common.ts";
import { rewardRow, verdict } from "./rollout.ts";

const definition = {
  name: z.string(),
  weight: z.optional(z.number()),
  precondition: z.optional(z.boolean()),
  timeoutMs: z.optional(z.number()),
  description: z.optional(z.string()),
  /** Of a tool: JSON Schema of its input. */
  parameters: z.optional(z.record(z.string(), z.unknown())),
};

/** A reward or tool of an environment. It is called as `environment/rewards/name` or `environment/tools/name`. */
export const environmentMember = z.object({ ...definition, kind: z.enum(["reward", "tool"]) });
export type EnvironmentMember = z.infer<typeof environmentMember>;

/**
 * What a module exports. An environment is called by its parts: `name/load`, `name/setup`, `name/step` and the
 * members, see {@link environmentMember}.
 */
export const userCodeExport = z.object({
  ...definition,
  kind: z.enum(["reward", "tool", "environment"]),
  /** Of an environment. */
  members: z.optional(z.array(environmentMember)),
  /** Of an environment: whether an episode may go on after the first answer. */
  steps: z.optional(z.boolean()),
});
export type UserCodeExport = z.infer<typeof userCodeExport>;

/** What a call of this name runs: an export, or a part of an environment. */
export function kindOfCall(
  exports: readonly UserCodeExport[],
  name: string,
): UserCodeExport["kind"] | undefined {
  const [root, part, member] = name.split("/");
  const kind = exports.find((each) => each.name === root)?.kind;
  if (kind !== "environment" || member === undefined) return kind;
  return part === "rewards" ? "reward" : "tool";
}

/** User code in Python: modules by their path in the bundle. They run unchanged, and are loaded by the container. */
export const pythonBundle = z.strictObject({
  v: z.literal(1),
  files: z.record(
    z.string().check(z.maxLength(500), z.regex(/^(?:[\p{L}_][\p{L}\p{N}_]*\/)*[\p{L}_][\p{L}\p{N}_]*\.py$/u)),
    z.string(),
  ),
  /** What requirements.txt says. */
  requirements: z.optional(z.string().check(z.maxLength(100_000))),
});
export type PythonBundle = z.infer<typeof pythonBundle>;

/** What user code is written in: TypeScript is bundled to one module, and runs in isolates. */
export const codeLanguage = z.enum(["typescript", "python"]);
export type CodeLanguage = z.infer<typeof codeLanguage>;

/** Answer of `PUT /user-code/:sha256` (body: the bundled module) after it was loaded once in an isolate. */
export const userCodeRecord = z.object({
  v: z.literal(1),
  sha256,
  /** File name the user knows it by, for messages. */
  name: z.string(),
  exports: z.array(userCodeExport),
  /** Absent: TypeScript. Of Python no exports are known: it runs in containers only. */
  language: z.optional(codeLanguage),
  /** Exported names that are none of these, for messages. */
  others: z.optional(z.array(z.string())),
  bytes: positiveInt,
  createdAtMs: timestampMs,
});
export type UserCodeRecord = z.infer<typeof userCodeRecord>;

/** `POST /user-code/:sha256/rewards`: judge rows once, without a run (used by preflight and `spotter test`). */
export const judgeRequest = z.strictObject({
  rows: z.array(rewardRow),
  names: z.optional(z.array(z.string())),
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
  /** Names of secrets to grant. Default: none. */
  secrets: z._default(z.array(z.string()), []),
  /** `mock`: models that rewards ask are asked nothing; each answer is made up to fit its schema. */
  judge: z.optional(z.literal("mock")),
});
/** `asked`: how many questions rewards had for models; absent from older servers. */
export const judgeResponse = z.object({ verdicts: z.array(verdict), asked: z.optional(nonNegativeInt) });

/**
 * `POST /user-code/:sha256/tools`: call tools once, without a run (used by `spotter test`). The answer is the one of
 * `POST /jobs/:id/tools`: a result or an error for each call, in their order.
 */
export const callToolsRequest = z.strictObject({
  calls: z.array(z.object({ tool: z.string(), input: z.unknown() })),
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
  /** Names of secrets to grant. Default: none. */
  secrets: z._default(z.array(z.string()), []),
});

/** `POST /user-code/:sha256/environments/:name/rows`: the tasks that an environment loads. */
export const loadTasksRequest = z.strictObject({
  /** Handed to `load`. */
  args: z._default(z.record(z.string(), z.unknown()), {}),
  timeoutMs: z._default(rewardTimeoutMs, 60_000),
  secrets: z._default(z.array(z.string()), []),
});
export const loadTasksResponse = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });

/** Of a score, up and down. What is larger drowns every other reward, and rounding the differences. */
export const MAX_SCORE = 1e6;

/** What a reward may return; scores from -{@link MAX_SCORE} to {@link MAX_SCORE}. */
export const rewardValue = z.union([
  z.number(),
  z.strictObject({
    score: z.number(),
    metrics: z.optional(z.record(z.string(), z.number())),
    reason: z.optional(z.string()),
  }),
]);

/** Between the home and the adapter inside an isolate. `GET /`: what there is. */
export const isolateDescription = z.object({
  exports: z.array(userCodeExport),
  /** Exported names that are no reward, tool or environment. */
  others: z.array(z.string()),
  /** Whether one call may name several exports; bundles of older versions take one, as `export` beside `rows`. */
  joint: z.optional(z.boolean()),
});
/**
 * `POST /`: some exports over the same rows. The body is this header and the rows as JSON, a line each: every
 * export parses the rows anew, so that none sees what another one changed in them.
 */
export const isolateRequest = z.object({
  exports: z.array(z.string()),
  secrets: z.record(z.string(), z.string()),
  timeoutMs: z.number(),
});
export type IsolateRequest = z.infer<typeof isolateRequest>;
export const isolateOutcome = z.union([
  z.object({
    error: z.object({ code: z.string(), message: z.string(), stack: z.optional(z.string()) }),
  }),
  z.object({ value: z.unknown() }),
]);
/** The answer is `{ results }`: one outcome a row, by export, then by row; `stack` has positions in the bundle. */
export type IsolateOutcome = z.infer<typeof isolateOutcome>;
