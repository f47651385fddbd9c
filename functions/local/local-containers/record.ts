import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { failure, SpotterError } from "../../../sdk/schema/errors.ts";
import type { ContainerSpec } from "../../ports/containers.ts";
import { atomicWrite } from "../atomic-write.ts";
import { parseJson } from "../parse-json.ts";

const base = {
  v: z.literal(1),
  jobId: z.string(),
  kind: z.enum(["serve", "train", "eval", "convert"]),
  /** Absent: the embedded engine. */
  engine: z.optional(z.enum(["slime", "vllm"])),
  /** What runs it. Absent: it is a process. */
  platform: z.optional(z.literal("docker")),
  isBeside: z.optional(z.boolean()),
};

/** What is on the disk about a container; a new daemon goes on from here. */
export const containerRecord = z.union([
  /** Written before anything is started. Holds the job token, and loses it with the next state. */
  z.object({
    ...base,
    state: z.literal("intent"),
    createdAtMs: z.number(),
    environment: z.record(z.string(), z.string()),
    imageOverlay: z.optional(z.array(z.string())),
    folders: z.optional(z.array(z.string())),
  }),
  z.object({ ...base, state: z.literal("running"), pid: z.number(), startedAt: z.string() }),
  /** In Docker, under its name there. */
  z.object({ ...base, state: z.literal("running"), container: z.string() }),
  z.object({
    ...base,
    state: z.literal("exited"),
    endedAtMs: z.number(),
    exitCode: z.nullable(z.number()),
    reason: z.enum(["capacity", "quota", "image", "oom", "preempted", "user", "error", "done"]),
    failure: z.optional(failure),
  }),
]);
export type ContainerRecord = z.infer<typeof containerRecord>;
export type ExitReason = Extract<ContainerRecord, { state: "exited" }>["reason"];

/** Files of one container below the home folder. */
export interface ContainerPaths {
  record: string;
  log: string;
  /** The exit code, written by the container's shell, also when no daemon is there to see it. */
  exitCode: string;
  work: string;
}

export function pathsOf(home: string, jobId: string): ContainerPaths {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,150}$/.test(jobId)) {
    throw new SpotterError("invalid_input", `${JSON.stringify(jobId.slice(0, 160))} cannot be a job id.`, {
      where: "jobId",
      hint: "Use letters, digits and . _ : @ -, beginning with a letter or digit.",
    });
  }
  const file = join(home, "containers", jobId);
  return {
    record: `${file}.json`,
    log: `${file}.log`,
    exitCode: `${file}.exit`,
    work: join(home, "work", jobId),
  };
}

export function saveRecord(path: string, record: ContainerRecord): void {
  atomicWrite(path, JSON.stringify(record));
}

/** All records of a home folder; creates the folder. */
export function loadRecords(home: string): ContainerRecord[] {
  const folder = join(home, "containers");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => loadRecord(join(folder, name)));
}

export function removeFiles(paths: ContainerPaths): void {
  for (const path of [paths.record, paths.exitCode, paths.log, `${paths.log}.1`])
    rmSync(path, { force: true });
}

/** The exit code that the container's shell wrote; null if it could not. */
export function readExitCode(paths: ContainerPaths): number | null {
  try {
    const text = readFileSync(paths.exitCode, "utf8");
    return /^\d+$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}

function loadRecord(path: string): ContainerRecord {
  const parsed = containerRecord.safeParse(parseJson(readFileSync(path, "utf8")));
  if (parsed.success) return parsed.data;
  throw new SpotterError("state_unreadable", `${path} is not the record of a container.`, {
    where: path,
    hint: "End that container's process if it still runs, then move the file away.",
  });
}

/** What is written down before a container is started. */
export function intentOf(
  spec: ContainerSpec,
  platform: ContainerRecord["platform"],
  createdAtMs: number,
): ContainerRecord {
  const { jobId, kind, engine, isBeside, environment, imageOverlay, folders } = spec;
  return {
    v: 1,
    state: "intent",
    jobId,
    kind,
    ...(engine && { engine }),
    ...(platform && { platform }),
    ...(isBeside && { isBeside }),
    ...(imageOverlay && { imageOverlay: [...imageOverlay] }),
    ...(folders && { folders: [...folders] }),
    createdAtMs,
    environment: { ...environment },
  };
}
