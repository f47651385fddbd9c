import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, sha256 } from "./common.ts";
import { checkpoint, checkpointFile, checkpointKind } from "./checkpoint.ts";
import { failure } from "./errors.ts";
import { launchEval } from "./launch-eval.ts";
import { evalRow } from "./eval-row.ts";
import { runEventBody } from "./event.ts";
import { checkpointId, modelRef } from "./model.ts";
import { nativePlan } from "./native-plan.ts";
import { rewardRow, rollout, verdict } from "./rollout.ts";
import { runSpec } from "./run-spec.ts";

/** Versions of the container protocol this build speaks; agents two releases back are accepted. */
export const JOB_PROTOCOL = 1;

/** A file to fetch, with `Authorization: Bearer <job token>` where the URL is ours. */
export const jobFile = z.object({ path: z.string(), url: z.string(), size: nonNegativeInt, sha256 });
export type JobFile = z.infer<typeof jobFile>;

/** The files of a checkpoint to start from or to serve. */
export const jobCheckpoint = z.object({
  id: checkpointId,
  kind: checkpointKind,
  step: nonNegativeInt,
  model: modelRef,
  files: z.array(jobFile),
});
export type JobCheckpoint = z.infer<typeof jobCheckpoint>;

/** The files of stored weights, for a model that neither comes with the package nor lies in a folder. */
const modelFiles = z.optional(z.array(jobFile));

const base = {
  protocol: z.literal(JOB_PROTOCOL),
  id: z.string(),
  attempt: nonNegativeInt,
  heartbeatEveryMs: positiveInt,
  threads: positiveInt,
  /** For an engine that is not this package's own. */
  native: z.optional(nativePlan),
};

/** A tool as chat templates take it. */
export const toolDefinition = z.object({
  type: z.literal("function"),
  function: z.object({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
  }),
});
export type ToolDefinition = z.infer<typeof toolDefinition>;

/** The bundle of user code in Python, and the values of the secrets that it was granted. */
const jobPython = z.optional(z.object({ code: jobFile, secrets: z.record(z.string(), z.string()) }));
/** What the model is told of the tools it may call. */
const jobTools = z.optional(z.array(toolDefinition));
/** The same of each environment, by name; an environment that never goes on after an answer has no steps. */
const jobEnvironments = z.optional(
  z.record(
    z.string(),
    z.object({
      tools: z.array(toolDefinition),
      steps: z.boolean(),
      maxTurns: z.optional(positiveInt),
    }),
  ),
);

/** `GET /jobs/:id`: everything a container needs to know. */
export const jobSpec = z.discriminatedUnion("kind", [
  z.object({
    ...base,
    kind: z.literal("serve"),
    endpoint: z.string(),
    /** The Bearer key that the replica asks for; the control plane sends it along. Absent: none. */
    accessKey: z.optional(z.string()),
    model: modelRef,
    modelFiles,
    checkpoint: z.optional(jobCheckpoint),
  }),
  z.object({
    ...base,
    kind: z.literal("train"),
    runId: z.string(),
    spec: runSpec,
    modelFiles,
    dataset: jobFile,
    evalDataset: z.optional(jobFile),
    python: jobPython,
    tools: jobTools,
    environments: jobEnvironments,
    /** The run's own last complete checkpoint after a lost attempt: go on at `step + 1`. */
    resume: z.optional(jobCheckpoint),
    /** Where `spec.startFrom` points. */
    start: z.optional(jobCheckpoint),
  }),
  z.object({
    ...base,
    kind: z.literal("eval"),
    evalId: z.string(),
    spec: launchEval,
    dataset: jobFile,
    python: jobPython,
    tools: jobTools,
    environments: jobEnvironments,
    /** Answers that are recorded: numbers (row times answers to a row, plus sample) from the first up to before the second. */
    done: z._default(z.array(z.tuple([nonNegativeInt, nonNegativeInt])), []),
    /** `POST {chatUrl}/chat/completions` with the job token as Bearer key. */
    chatUrl: z.optional(z.string()),
    model: z.optional(z.string()),
    /** Instead of an endpoint: a checkpoint of a run, played by the container itself, which makes way for others. */
    weights: z.optional(z.object({ checkpoint: jobCheckpoint, modelFiles })),
  }),
  z.object({
    ...base,
    kind: z.literal("convert"),
    model: modelRef,
    modelFiles,
    /** To Megatron's format: the checkpoint whose weights are converted. Absent: the model's own. */
    start: z.optional(jobCheckpoint),
    /** To Hugging Face's format: the checkpoint whose state gets its weights. */
    state: z.optional(jobCheckpoint),
  }),
]);
export type JobSpec = z.infer<typeof jobSpec>;
export type TrainJob = Extract<JobSpec, { kind: "train" }>;
export type ServeJob = Extract<JobSpec, { kind: "serve" }>;
export type EvalJob = Extract<JobSpec, { kind: "eval" }>;
export type ConvertJob = Extract<JobSpec, { kind: "convert" }>;

/** Every write carries the attempt; a stale one is answered 410 `attempt_stale` and the container exits. */
const attempt = nonNegativeInt;

export const jobHeartbeat = z.object({
  attempt,
  phase: z.optional(z.string()),
  step: z.optional(nonNegativeInt),
});
/** `cancel`: stop as soon as it is safe (training saves a checkpoint first), then report `exit`. */
export const jobHeartbeatReply = z.object({ cancel: z.boolean() });

/**
 * What a container reports, in order. `seq` counts per attempt from 1; repeating a (attempt, seq) is
 * harmless, so a container may resend after a lost answer.
 */
export const jobEventBody = z.discriminatedUnion("type", [
  z.object({ type: z.literal("run"), event: runEventBody }),
  /** A replica listens at `address` (host:port) and has answered its own probe. */
  z.object({ type: z.literal("ready"), address: z.string() }),
  z.object({ type: z.literal("eval-rows"), rows: z.array(evalRow), total: nonNegativeInt }),
  z.object({
    type: z.literal("log"),
    level: z.enum(["debug", "info", "warn", "error"]),
    message: z.string(),
  }),
  /** The last word: how the work ended. */
  z.object({
    type: z.literal("exit"),
    outcome: z.enum(["succeeded", "failed", "cancelled"]),
    failure: z.optional(failure),
  }),
]);
export type JobEventBody = z.infer<typeof jobEventBody>;
export const jobEvents = z.object({
  attempt,
  events: z.array(z.object({ seq: positiveInt, body: jobEventBody })),
});
/** The highest seq stored; older ones need not be sent again. */
export const jobEventsReply = z.object({ acknowledged: nonNegativeInt });

export const jobRewards = z.object({ attempt, rows: z.array(rewardRow) });
export const jobRewardsReply = z.object({ verdicts: z.array(verdict) });

/** Calls of tools of the run, or of the environment whose task is played. */
export const jobToolCalls = z.object({
  attempt,
  calls: z.array(z.object({ environment: z.optional(z.string()), tool: z.string(), input: z.unknown() })),
});
export type JobToolCall = z.infer<typeof jobToolCalls>["calls"][number];
/** Begins episodes (`setup` of a row) and goes on with them (`step` of a turn). */
export const jobEnvironmentCalls = z.object({
  attempt,
  calls: z.array(z.object({ environment: z.string(), call: z.enum(["setup", "step"]), input: z.unknown() })),
});
export type JobEnvironmentCall = z.infer<typeof jobEnvironmentCalls>["calls"][number];
/** One a call, in their order. */
export const jobCallsReply = z.object({
  results: z.array(
    z.union([
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
      z.object({ value: z.unknown() }),
    ]),
  ),
});
export type JobCallResult = z.infer<typeof jobCallsReply>["results"][number];

/** All rollouts of a step in one call: stored as one blob pair. */
export const jobRollouts = z.object({ attempt, step: nonNegativeInt, rollouts: z.array(rollout) });

/** First call: announce; the reply says where to PUT each file. */
export const jobCheckpointBegin = z.object({
  attempt,
  step: nonNegativeInt,
  kind: checkpointKind,
  files: z.array(checkpointFile),
  metrics: z.optional(z.record(z.string(), z.number())),
});
export type JobCheckpointBegin = z.infer<typeof jobCheckpointBegin>;
/**
 * Where a file goes: one PUT to `url` with `headers`, or, where there are `parts`, a PUT of each piece of
 * `partBytes` (the last is shorter) to its own URL, whose answer has an ETag to name when all is complete.
 */
export const jobUpload = z.object({
  path: z.string(),
  url: z.string(),
  headers: z.optional(z.record(z.string(), z.string())),
  parts: z.optional(z.object({ partBytes: positiveInt, urls: z.array(z.string()) })),
});
export type JobUpload = z.infer<typeof jobUpload>;
export const jobCheckpointUploads = z.object({ uploads: z.array(jobUpload) });
/** What was answered to the parts of a file, in their order. */
export const jobUploadedParts = z.object({ path: z.string(), etags: z.array(z.string()) });
export type JobUploadedParts = z.infer<typeof jobUploadedParts>;
/** Second call (`.../checkpoints/:step/complete`): checks sizes and hashes, then writes the manifest. */
export const jobCheckpointComplete = z.object({ attempt, parts: z.optional(z.array(jobUploadedParts)) });
export const jobCheckpointReply = checkpoint;

/** Weights in an engine's own format, by the SHA-256 of what was converted and how: as checkpoints are stored. */
export const jobConversion = z.object({ files: z.array(jobFile) });
export const jobConversionBegin = z.object({ attempt, files: z.array(checkpointFile).check(z.minLength(1)) });
export type JobConversionBegin = z.infer<typeof jobConversionBegin>;
export const jobConversionReply = z.object({ files: nonNegativeInt });

/** Environment of a container process. Nothing else reaches it. */
export interface JobEnvironment {
  SPOTTER_URL: string;
  SPOTTER_JOB_ID: string;
  SPOTTER_JOB_TOKEN: string;
  /** Private scratch folder, removed when the container is gone. */
  SPOTTER_WORK_DIR: string;
}
