import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ContainerKind } from "../../ports/containers.ts";
import { sha256Of } from "../../records/hash.ts";

/** Tags on everything that is started. */
const TAG = {
  stack: "spotter:stack",
  job: "spotter:job",
  kind: "spotter:kind",
  /** How long it may run: the sweep ends it then without asking any record. Time in a queue is not part of it. */
  maxLifetimeMs: "spotter:max-lifetime-ms",
} as const;

const HASH_LENGTH = 16;
/** Longest `startedBy` of ECS and longest job name of Batch. */
const MAX_NAME_LENGTH = 128;

/** Refuses what tags and names of AWS could not carry. */
export function checkJobId(jobId: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,150}$/.test(jobId)) return;
  throw new SpotterError("invalid_input", `${JSON.stringify(jobId.slice(0, 160))} cannot be a job id.`, {
    where: "jobId",
    hint: "Use letters, digits and . _ : @ -, beginning with a letter or digit.",
  });
}

/**
 * The one name under which a stack starts a job, for `startedBy` of ECS and the job name of Batch: whoever lost
 * an answer finds by it what was started. Neither takes all characters of an id, so a hash keeps ids apart.
 */
export function platformName(stack: string, jobId: string): string {
  const hash = sha256Of(`${stack} ${jobId}`).slice(0, HASH_LENGTH);
  const readable = jobId.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1);
  return `${readable}-${hash}`;
}

/** Longer than a launch and its repetitions take, shorter than somebody waits who was refused once. */
const TOKEN_MS = 10 * 60_000;

/**
 * The same for the same job within minutes: RunTask starts nothing for a repeated one. Not for ever, since it
 * repeats a refusal as well.
 */
export function clientToken(stack: string, jobId: string, nowMs: number): string {
  return sha256Of(`launch ${stack} ${jobId} ${Math.floor(nowMs / TOKEN_MS)}`).slice(0, 64);
}

export interface StartedFor {
  jobId: string;
  kind: ContainerKind;
  /** Longest time that it may run, from when its container started. */
  maxLifetimeMs?: number;
}

/** Tags as both services take them, in their own spelling of key and value. */
export function tagsOf(stack: string, { jobId, kind, maxLifetimeMs }: StartedFor): Record<string, string> {
  return {
    [TAG.stack]: stack,
    [TAG.job]: jobId,
    [TAG.kind]: kind,
    ...(maxLifetimeMs !== undefined && { [TAG.maxLifetimeMs]: String(maxLifetimeMs) }),
  };
}

/** For whom something was started; undefined where it is not of this stack. */
export function startedFor(stack: string, tags: Record<string, string | undefined>): StartedFor | undefined {
  const jobId = tags[TAG.job];
  const kind = tags[TAG.kind];
  if (tags[TAG.stack] !== stack || jobId === undefined || !isKind(kind)) return undefined;
  const maxLifetimeMs = Number(tags[TAG.maxLifetimeMs] ?? Number.NaN);
  return { jobId, kind, ...(maxLifetimeMs > 0 && { maxLifetimeMs }) };
}

function isKind(text: string | undefined): text is ContainerKind {
  return text === "serve" || text === "train" || text === "eval" || text === "convert";
}
