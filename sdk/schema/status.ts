import * as z from "zod/mini";
import { spend } from "./cost.ts";
import { engineImages } from "./engine-images.ts";
import { runState } from "./run.ts";

/** `GET /health`: open to everyone, says nothing secret. */
export const health = z.object({ ok: z.literal(true), name: z.literal("spotter"), version: z.string() });
export type Health = z.infer<typeof health>;

/** `GET /status`: what runs here. */
export const status = z.object({
  version: z.string(),
  home: z.string(),
  startedAtMs: z.number(),
  /** Work that keeps the daemon alive. */
  activeRuns: z.number(),
  endpoints: z.number(),
  /** All runs by state, those that have ended too; states without any are left out. Archived ones count apart. */
  runs: z.optional(z.partialRecord(runState, z.number())),
  archivedRuns: z.optional(z.number()),
  /** What everything that is alive now has cost since it began, and what an hour of it costs. */
  spend: z.optional(spend),
  /** Limits that this platform enforces in another way than Linux, in words. */
  notes: z.array(z.string()),
});
export type Status = z.infer<typeof status>;

/** `$SPOTTER_HOME/daemon.json`, mode 0600: how the SDK finds the daemon of this machine. */
export const daemonFile = z.object({
  url: z.string(),
  pid: z.number(),
  startedAtMs: z.number(),
  version: z.string(),
  adminKey: z.string(),
  /** Ends after this long without work; absent: never. */
  idleExitMs: z.optional(z.number()),
  /** Engines that it runs in Docker; absent: all that it runs are processes. */
  images: z.optional(engineImages),
});
export type DaemonFile = z.infer<typeof daemonFile>;
